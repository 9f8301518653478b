/**
 * The declarations of every published package, `dist/*.d.ts`: one run of the native TypeScript compiler for all of them,
 * then each entry of `exports` rolled into one file, so that nothing but public names is published.
 */
import { spawnSync } from 'node:child_process'
import { globSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { publishedPackages } from './pack-packages.mjs'

const root = resolve(import.meta.dirname, '..')
const emitted = join(root, 'node_modules/.cache/types')

/** Declarations import `./file.ts`, as their sources do, and stand in `file.d.ts`. */
const besideTheirSource = {
  name: 'beside-their-source',
  resolveId(id, importer) {
    if (importer === undefined || !/^\.{1,2}\/.*(?<!\.d)\.ts$/.test(id)) return undefined
    return resolve(dirname(importer), id.replace(/\.ts$/, '.d.ts'))
  },
}

rmSync(emitted, { recursive: true, force: true })
const tsc = join(root, 'node_modules/typescript-native/bin/tsc')
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.types.json', '--outDir', emitted], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)
const published = publishedPackages()
for (const { folder, manifest } of published.values()) {
  const names = entriesOf(manifest)
  if (names.length > 0) await rollUp(folder, manifest, names)
}

/** The names of a package's entries, `index` and `node`; a package with native code alone has none. */
function entriesOf({ exports = {} }) {
  const files = Object.values(exports).map((entry) => entry.types ?? '')
  return files.flatMap((file) => /^\.\/dist\/(.+)\.d\.ts$/.exec(file)?.[1] ?? [])
}

/** Packages of ours that a package holds, in place of depending on them: their declarations are part of its own. */
function inside({ dependencies = {} }) {
  const find = (id) => {
    const [, name, entry = ''] = /^(@mesh\/[\w-]+)(\/.+)?$/.exec(id) ?? []
    return name in dependencies
      ? undefined
      : published.get(name)?.manifest.exports?.[`.${entry}`]?.['mesh-source']
  }
  return {
    isInside: (id) => find(id) !== undefined,
    name: 'inside',
    resolveId(id) {
      const source = find(id)
      const name = id.split('/').slice(0, 2).join('/')
      if (source === undefined) return undefined
      return join(emitted, published.get(name).folder, source.replace(/\.ts$/, '.d.ts'))
    },
  }
}

async function rollUp(folder, manifest, names) {
  const { isInside, ...own } = inside(manifest)
  const bundle = await rollup({
    input: Object.fromEntries(names.map((name) => [name, join(emitted, folder, `src/${name}.d.ts`)])),
    external: (id) => !id.startsWith('.') && !id.startsWith(emitted) && !isInside(id),
    plugins: [besideTheirSource, own, dts()],
  })
  // the names of chunks change with what is in them
  for (const file of globSync(`${folder}/dist/*.d.ts`, { cwd: root })) rmSync(join(root, file))
  await bundle.write({
    dir: join(root, folder, 'dist'),
    entryFileNames: '[name].d.ts',
    chunkFileNames: ({ name }) => `${name.replace(/\.d$/, '')}-[hash].d.ts`,
  })
  await bundle.close()
}
