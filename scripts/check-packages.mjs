/**
 * Every published package, as it is packed: publint, whether TypeScript finds the types of each entry (attw), what its
 * manifest must have and must not, and that its dependencies are ranges. Run after the build.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { packPackages, publishedPackages } from './pack-packages.mjs'

/** Dependencies of which users get exactly one version, and why. All others are ranges, so that npm shares them. */
const EXACT = {
  '@mesh/engine-linux-arm64-gnu': "the addon's interface is the engine's own",
  '@mesh/engine-linux-arm64-musl': "the addon's interface is the engine's own",
  '@mesh/engine-linux-x64-gnu': "the addon's interface is the engine's own",
  '@mesh/engine-linux-x64-musl': "the addon's interface is the engine's own",
}
/** The heads of wrappers name the libraries that they wrap (docs/upstream/README.md). */
const root = resolve(import.meta.dirname, '..')
for (const file of globSync('packages/p2p/src/upstream/**/*.ts', { cwd: root })) {
  const [, libraries = ''] = /@library ([^\n]*)/.exec(readFileSync(join(root, file), 'utf8')) ?? []
  for (const [, name] of libraries.matchAll(/(@?[\w/-]+) \d/g)) EXACT[name] = `${file} wraps it`
}
for (const name of ['@libp2p/gossipsub', '@libp2p/utils', '@libp2p/yamux', 'libp2p'])
  EXACT[name] ??= 'packages/p2p/src/upstream wraps it'

/** Resolutions of attw that packages of ES modules with `exports` do not serve: TypeScript's for Node 10 and for CommonJS. */
const NOT_FOR_ES_MODULES = new Set(['node10', 'node16-cjs'])

const complaints = []
const published = publishedPackages()
const work = mkdtempSync(join(tmpdir(), 'mesh-packages-'))
try {
  for (const { manifest } of published.values()) checkSource(manifest)
  for (const tarball of packPackages(work)) await checkTarball(tarball)
} finally {
  rmSync(work, { recursive: true, force: true })
}
for (const line of complaints) console.log(line)
console.log(`${published.size} packages, ${complaints.length} complaints`)
process.exitCode = complaints.length === 0 && published.size > 0 ? 0 : 1

function checkSource(manifest) {
  const complain = (text) => complaints.push(`${manifest.name}: ${text}`)
  if (!(manifest.keywords?.length >= 3)) complain('"keywords" has fewer than three')
  if (!(manifest.description?.length > 0)) complain('there is no "description"')
}

async function checkTarball(tarball) {
  const bytes = readFileSync(tarball)
  const manifest = JSON.parse(unpackOne(tarball, 'package/package.json'))
  const complain = (text) => complaints.push(`${manifest.name}: ${text}`)
  if (unpackOne(tarball, 'package/README.md').length < 100) complain('its README says nothing')
  for (const field of ['devDependencies', 'scripts', 'private'])
    if (field in manifest) complain(`its tarball has "${field}"`)
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    for (const [name, range] of Object.entries(manifest[field] ?? {})) checkRange(name, range, complain)
  // publint reads the entry as JavaScript, and its expressions overflow on some bytes of an addon
  if (manifest.main?.endsWith('.node')) return
  const { messages } = await publint({
    strict: true,
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
  })
  for (const message of messages) complain(formatMessage(message, manifest, { color: false }))
  const { problems = [] } = await checkPackage(createPackageFromTarballData(bytes))
  for (const { kind, entrypoint = '', resolutionKind = '' } of problems)
    if (!NOT_FOR_ES_MODULES.has(resolutionKind)) complain(`types: ${kind} ${entrypoint} ${resolutionKind}`)
}

function checkRange(name, range, complain) {
  if (name.startsWith('@mesh/') && !published.has(name))
    complain(`depends on ${name}, which is not published`)
  const isExact = /^\d/.test(range)
  if (isExact && EXACT[name] === undefined) complain(`${name} is pinned to ${range}: write ^${range}`)
  if (!isExact && EXACT[name] !== undefined) complain(`${name} is to be exact: ${EXACT[name]}`)
  if (!isExact && !range.startsWith('^')) complain(`${name} has the range ${range}`)
}

function unpackOne(tarball, path) {
  const { status, stdout } = spawnSync('tar', ['-xzOf', tarball, path], { encoding: 'utf8' })
  return status === 0 ? stdout : ''
}
