import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type ProxyOptions } from 'vite'
import { mockNode } from './dev/mock-node.ts'

/** The node that `vite dev` talks to, one with 30 played machines unless named; the built page asks the node that serves it. */
const node = process.env['MESH_API']
// the Host stays that of the page: a node refuses what pages of others ask
const proxy: ProxyOptions = node === undefined ? {} : { target: node }
const conditions = ['mesh-source', 'module', 'development|production']

/**
 * Names the chunks that the entry imports as scripts of their own: the browser evaluates each in a task of its own, so
 * that none of them blocks the page for long.
 */
const scriptsApart: Plugin = {
  name: 'scripts-apart',
  transformIndexHtml: {
    order: 'post',
    handler: (html) =>
      html.replace(
        /<link rel="modulepreload"( crossorigin)? href="([^"]+)">/g,
        '<script type="module" async$1 src="$2"></script>',
      ),
  },
}

/**
 * A few hashed files that the node embeds. Nothing is inlined, so that the page runs under a CSP that allows
 * only files of its own origin.
 */
export default defineConfig({
  // files are named relative to the page, which may be below a path of a reverse proxy
  base: './',
  plugins: [react(), scriptsApart, ...(node === undefined ? [mockNode(proxy)] : [])],
  resolve: { conditions: ['browser', ...conditions] },
  ssr: { resolve: { conditions: ['node', ...conditions] } },
  build: {
    // the first that read integers of 64 bits from JSON exactly
    target: ['chrome123', 'firefox135', 'safari18.4'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
            { name: 'router', test: /node_modules\/@tanstack\/(?!react-virtual)/ },
          ],
        },
      },
    },
    // the browser test bounds the size of the scripts
    chunkSizeWarningLimit: 800,
  },
  server: { host: '127.0.0.1', proxy: { '^/(api|healthz|readyz|metrics)\\b': proxy } },
})
