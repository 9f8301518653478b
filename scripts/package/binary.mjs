/**
 * `dist/mesh-linux-ARCH`: Node with the built node inside, as its single executable application. Node serves the files that it
 * holds as a file system of its own, so the node runs there as it does from a folder. packaging/README.md says how addons are
 * loaded and what makes two builds differ.
 */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { ARCHITECTURES } from './architectures.mjs'
import { firstOf, root, show } from './commands.mjs'
import { buildEngine, fetchPackage, integrityOf, nodeBinary } from './toolchain.mjs'

const app = join(root, 'apps/node')
const MAIN = 'main.js'

/** Packages of npm that the built node loads, by their entries; each has an addon in a package for each platform. */
const LOADED = [
  {
    name: 'node-datachannel',
    entries: ['', '/polyfill'],
    addon: (arch) => `@node-datachannel/linux-${arch}-gnu`,
  },
  {
    name: '@chainsafe/libp2p-quic',
    entries: [''],
    addon: (arch) => `@chainsafe/libp2p-quic-linux-${arch}-gnu`,
  },
]

/** @returns the names of the files that it made in `dist` */
export async function packageBinary(dist, { arch, isLocal }) {
  if (!isLocal) buildEngine(arch)
  const work = mkdtempSync(join(tmpdir(), 'mesh-binary-'))
  try {
    const stage = join(work, 'stage')
    cpSync(join(app, 'dist'), stage, { recursive: true })
    if (!existsSync(join(stage, 'ui/manifest.json')))
      throw new Error('apps/node is built without its web page')
    writeFileSync(join(stage, 'package.json'), '{"type":"module"}')
    for (const loaded of LOADED) await stageLoaded(stage, loaded, arch)
    const engine = `@mesh/engine-linux-${arch}-gnu`
    stageAddon(stage, engine, join(root, `packages/engine/npm/linux-${arch}-gnu`))
    const node = join(work, 'node')
    stageNode(node, arch)
    const name = `mesh-linux-${arch}`
    embed(stage, node, join(work, name))
    copyFileSync(join(work, name), join(dist, `${name}.new`))
    chmodSync(join(dist, `${name}.new`), 0o755)
    renameSync(join(dist, `${name}.new`), join(dist, name))
    return [name]
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** A package as few files, without its dependencies; its own code finds the addon beside it by its name. */
async function stageLoaded(stage, { name, entries, addon }, arch) {
  const from = addonFolder(name, addon(arch))
  if (from === undefined) {
    console.log(`  without ${name}: the lockfile has no ${addon(arch)}`)
    return
  }
  const folder = join(stage, 'node_modules', name)
  const fileOf = (entry) => (entry === '' ? 'index' : entry.slice(1))
  await build({
    absWorkingDir: app,
    entryPoints: Object.fromEntries(entries.map((entry) => [fileOf(entry), `${name}${entry}`])),
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    plugins: [glibcAlone],
    legalComments: 'none',
    logLevel: 'error',
    outdir: folder,
  })
  const exports = Object.fromEntries(entries.map((entry) => [`.${entry}`, `./${fileOf(entry)}.js`]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, type: 'module', exports }))
  stageAddon(stage, addon(arch), from)
}

/** What asks which libc this machine has gets the answer: the executable runs on glibc alone. */
const glibcAlone = {
  name: 'glibc-alone',
  setup(builder) {
    builder.onResolve({ filter: /^detect-libc$/ }, ({ path }) => ({ path, namespace: 'glibc' }))
    builder.onLoad({ filter: /.*/, namespace: 'glibc' }, () => ({
      contents: "export const [familySync, MUSL] = [() => 'glibc', 'musl']",
    }))
  },
}

/** Where the package of an addon is: beside the package that loads it, or fetched when it is for another machine. Undefined: nowhere. */
function addonFolder(name, addonName) {
  const loader = realpathSync(join(app, 'node_modules', name))
  try {
    return dirname(createRequire(join(loader, 'package.json')).resolve(`${addonName}/package.json`))
  } catch {
    const { optionalDependencies } = JSON.parse(readFileSync(join(loader, 'package.json'), 'utf8'))
    const version = optionalDependencies[addonName]
    return integrityOf(addonName, version) === undefined ? undefined : fetchPackage(addonName, version)
  }
}

function stageAddon(stage, name, from) {
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  const file = manifest.main.replace(/^\.\//, '')
  if (!existsSync(join(from, file))) throw new Error(`${name} has no ${file}: it is not built`)
  const folder = join(stage, 'node_modules', name)
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(from, file), join(folder, file))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: manifest.version, main: file }))
}

/** Without its tables of symbols and what debuggers read, where a program is there that takes them away. */
function stageNode(node, arch) {
  copyFileSync(nodeBinary(arch), node)
  const strip = firstOf(ARCHITECTURES[arch].strip)
  if (strip === undefined)
    console.log(`  no ${ARCHITECTURES[arch].strip.join(' or ')}: the file stays 30 MB larger`)
  else show(strip, [node], { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Paths are relative, since the executable keeps that of its main script. */
function embed(stage, node, target) {
  const files = readdirSync(stage, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(stage, join(entry.parentPath, entry.name)))
    .filter((file) => file !== MAIN)
    .toSorted()
  const configuration = {
    main: MAIN,
    mainFormat: 'module',
    executable: node,
    output: target,
    disableExperimentalSEAWarning: true,
    useVfs: true,
    // it is `mesh`: options of Node belong to other programs
    execArgvExtension: 'none',
    assets: Object.fromEntries(files.map((file) => [file, file])),
  }
  const file = `${target}.json`
  writeFileSync(file, JSON.stringify(configuration))
  show(process.execPath, ['--build-sea', file], { cwd: stage, stdio: ['ignore', 'ignore', 'inherit'] })
}
