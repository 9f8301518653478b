import { defineConfig } from 'vite'

/** Inside this workspace the packages' sources are used; elsewhere `conditions` is not needed. */
export default defineConfig({
  // a node serves the page at /join, and a proxy below another path
  base: './',
  resolve: { conditions: ['mesh-source', 'import', 'module', 'browser', 'default'] },
  build: { target: 'es2024', modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1_200 },
})
