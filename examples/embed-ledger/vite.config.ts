import { defineConfig } from 'vite'

/** Inside this workspace the packages' sources are used; elsewhere none of this is needed. */
export default defineConfig({
  resolve: { conditions: ['mesh-source', 'import', 'module', 'browser', 'default'] },
  build: { target: 'es2024' },
})
