/**
 * Reads only those properties of Node's own modules that are used. An `import` of one reads all of them, of which many
 * load further parts (fs its streams, util MIME types and the inspector's traces, http undici, crypto WebCrypto). In the
 * bundle each import becomes the object that `process.getBuiltinModule` gives. README.md says what that brings.
 */
import { isBuiltin } from 'node:module'
import { relative } from 'node:path'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

const NAMESPACE = 'builtin'
/** Refuses old releases of Node, some of which have no `getBuiltinModule`. */
const ENTRY = /[\\/]src[\\/]main\.ts$/

export const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path, kind, importer }) =>
      kind === 'import-statement' && isBuiltin(path) && !ENTRY.test(importer)
        ? // one for each importer, so that none becomes a file of its own; its path is in the names of the built files
          {
            path: `${path.replace(/^node:/, '')}?${relative(import.meta.dirname, importer)}`,
            namespace: NAMESPACE,
            sideEffects: false,
          }
        : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      contents: lazyModule(path.slice(0, path.indexOf('?'))),
    }))
  },
}

/** What nothing imports, esbuild leaves out, since reading it is marked as pure. */
function lazyModule(name: string): string {
  const names = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {}).filter((key) => key !== 'default')
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule('node:${name}')`,
    'const read = (name) => builtin[name]',
    ...names.map((key) => `const _${key} = /* @__PURE__ */ read('${key}')`),
    `export { builtin as default, ${names.map((key) => `_${key} as ${key}`).join(', ')} }`,
  ].join('\n')
}
