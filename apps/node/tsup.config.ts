import { defineConfig } from 'tsup'
import { eagerFunctions } from './bundle/eager-functions.ts'
import { embedPages } from './bundle/embed-page.ts'
import { lazyBuiltins } from './bundle/lazy-builtins.ts'
import { writeNotices } from './bundle/notices.ts'
import { stubs } from './bundle/stubs.ts'

/**
 * The node as a few files without node_modules: the command `main.js`, and `index.js` for programs. Split, so that a
 * command loads only what it needs, and minified. What is native stays outside. bundle/README.md says what each part brings.
 */
export default defineConfig({
  entry: { main: 'src/main.ts', index: 'src/index.ts' },
  format: 'esm',
  target: 'node22',
  platform: 'node',
  splitting: true,
  treeshake: false,
  minify: true,
  clean: ['!**/*.d.ts'],
  removeNodeProtocol: false,
  noExternal: [/^(?!node-datachannel|@chainsafe\/libp2p-quic)/],
  tsconfig: '../../tsconfig.json',
  esbuildPlugins: [stubs, lazyBuiltins],
  plugins: [eagerFunctions],
  // what is CommonJS inside asks for Node's own modules by require; all else is bundled, or optional and not there
  banner: {
    js: 'const require=(n)=>{const m=process.getBuiltinModule(n);if(m)return m;throw Object.assign(Error(`no module ${n}`),{code:"MODULE_NOT_FOUND"})};',
  },
  esbuildOptions(options) {
    options.conditions = ['mesh-source', 'module']
    options.mainFields = ['module', 'main']
    options.legalComments = 'none'
  },
  metafile: true,
  onSuccess: async () => {
    embedPages(import.meta.dirname)
    writeNotices(import.meta.dirname)
  },
})
