import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The node that `vite dev` talks to; the built page asks the node that serves it. */
const DEVELOPMENT_NODE = 'http://127.0.0.1:8080'

/**
 * A few hashed files that the node embeds. Nothing is inlined, so that the page runs under a CSP that allows
 * only files of its own origin.
 */
export default defineConfig({
  // files are named relative to the page, which may be below a path of a reverse proxy
  base: './',
  plugins: [react()],
  resolve: { conditions: ['mesh-source', 'module', 'browser', 'development|production'] },
  build: {
    // the first that read integers of 64 bits from JSON exactly
    target: ['chrome123', 'firefox135', 'safari18.4'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // the browser test bounds the size of the scripts
    chunkSizeWarningLimit: 800,
  },
  server: { host: '127.0.0.1', proxy: { '/api': { target: DEVELOPMENT_NODE, changeOrigin: true } } },
})
