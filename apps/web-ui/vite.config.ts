import react from '@vitejs/plugin-react'
import { defineConfig, type ProxyOptions } from 'vite'
import { mockNode } from './dev/mock-node.ts'

/** The node that `vite dev` talks to, one with 30 played machines unless named; the built page asks the node that serves it. */
const node = process.env['MESH_API']
// the Host stays that of the page: a node refuses what pages of others ask
const proxy: ProxyOptions = node === undefined ? {} : { target: node }
const conditions = ['mesh-source', 'module', 'development|production']

/**
 * A few hashed files that the node embeds. Nothing is inlined, so that the page runs under a CSP that allows
 * only files of its own origin.
 */
export default defineConfig({
  // files are named relative to the page, which may be below a path of a reverse proxy
  base: './',
  plugins: [react(), ...(node === undefined ? [mockNode(proxy)] : [])],
  resolve: { conditions: ['browser', ...conditions] },
  ssr: { resolve: { conditions: ['node', ...conditions] } },
  build: {
    // the first that read integers of 64 bits from JSON exactly
    target: ['chrome123', 'firefox135', 'safari18.4'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // the browser test bounds the size of the scripts
    chunkSizeWarningLimit: 800,
  },
  server: { host: '127.0.0.1', proxy: { '^/(api|healthz|readyz|metrics)\\b': proxy } },
})
