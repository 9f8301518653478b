/**
 * What users get: the packages as they are published, installed by npm in an empty project. Their number and size
 * have bounds, every documented example is checked strictly and runs to its end, and browsers load little.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentedExamples } from './documented-examples.ts'
import { installInto, isTarballOf, measure, packAll, whyUnreachable } from './npm-project.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const work = mkdtempSync(join(tmpdir(), 'mesh-published-'))
const everything = join(work, 'everything')
const examples = documentedExamples(root).filter((example) => example.package !== '@mesh/node')
/** Set when npm reaches no registry. */
let unreachable: string | undefined
let packed: readonly string[] = []

/** Installs packages of these names in a project with nothing else. */
const installOnly = (folder: string, names: readonly string[]) =>
  installInto(
    folder,
    packed.filter((file) => names.some((name) => isTarballOf(name, file))),
  )

beforeAll(async () => {
  packed = await packAll(work)
  // `@mesh/node` holds the others
  const libraries = packed.filter((file) => !isTarballOf('node', file))
  unreachable = await whyUnreachable(installInto(everything, libraries))
  for (const { name, code } of examples) writeFileSync(join(everything, `${name}.ts`), code)
}, 180_000)

afterAll(() => rmSync(work, { recursive: true, force: true }))

/** Large trees, native code, and a generator of documents that no user calls. */
const UNWANTED = /^react|node-datachannel|libp2p-quic|zod-to-openapi/

test('all packages together bring few others, and nothing of React Native', (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const { names, megabytes } = measure(everything)
  expect(names.length).toBeLessThanOrEqual(250)
  expect(megabytes).toBeLessThanOrEqual(80)
  expect(names.filter((name) => UNWANTED.test(name))).toEqual([])
})

test.for([
  { names: ['core', 'ledger'], most: { packages: 8, megabytes: 5 } },
  { names: ['core', 'api-contract', 'api-client'], most: { packages: 10, megabytes: 12 } },
  { names: ['core', 'network', 'port-mapping', 'p2p'], most: { packages: 166, megabytes: 60 } },
])('a project with $names alone gets what they need', async ({ names, most }, context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const folder = join(work, `only-${names.join('-')}`)
  await installOnly(folder, names)
  const { names: installed, megabytes } = measure(folder)
  expect(installed.length).toBeLessThanOrEqual(most.packages)
  expect(megabytes).toBeLessThanOrEqual(most.megabytes)
})

test('every documented example passes the strictest checks of types, the declarations too', async (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'esnext.collection', 'dom', 'dom.iterable'],
    typeRoots: [join(root, 'node_modules/@types')],
    types: ['node'],
    skipLibCheck: false,
    noEmit: true,
  }
  writeFileSync(join(everything, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(root, 'node_modules/typescript-native/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', '.'], { cwd: everything }).catch(
    (error) => error,
  )
  expect(stdout).toBe('')
})

const SERVER = `
import { createApiServer, parseListenAddress } from '@mesh/api-server'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger, createSigner } from '@mesh/ledger'
const ledger = createLedger({}, { signer: createSigner(systemRandom.bytes(32)) })
const version = { version: '0.1.0', protocols: () => [] }
const health = { problems: () => [], ready: () => true }
const server = createApiServer({}, { ledger, version, health, clock: systemClock, random: systemRandom, logger: silentLogger })
console.log((await server.listen(parseListenAddress('127.0.0.1:0'))).url)
`

/** A node for the client's examples, which speak of one at port 8080. */
async function startServer(): Promise<{ url: string; process: ChildProcess }> {
  writeFileSync(join(everything, 'server.mjs'), SERVER)
  const process_ = spawn(process.execPath, ['server.mjs'], {
    cwd: everything,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const url of createInterface({ input: process_.stdout })) return { url, process: process_ }
  throw new Error('the server ended')
}

/** Opens a network interface on the machine that runs it. */
const NOT_RUN = new Set(['engine-index-0'])

test('every documented example runs to its end', async (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  expect(new Set(examples.map((example) => example.package)).size).toBeGreaterThanOrEqual(9)
  const server = await startServer()
  try {
    for (const { name, code } of examples.filter((example) => !NOT_RUN.has(example.name))) {
      const file = `${name}.run.ts`
      writeFileSync(join(everything, file), code.replaceAll('http://127.0.0.1:8080', server.url))
      const ended = await run(process.execPath, [file], { cwd: everything, timeout: 30_000 }).catch(
        (error) => error,
      )
      // an exit code other than 0 rejects; the client's example prints what went wrong
      expect({ name, code: ended.code, stderr: name === 'core-readme-0' ? '' : ended.stderr }).toEqual({
        name,
        stderr: '',
      })
    }
  } finally {
    server.process.kill()
  }
}, 120_000)

test.for([
  { what: "{ tryParsePeerId } from '@mesh/core'", kilobytes: 5, gzipped: 2.5 },
  { what: "{ createLedger, createSigner, encodeBlock } from '@mesh/ledger'", kilobytes: 95, gzipped: 36 },
  { what: "{ createClient } from '@mesh/api-client'", kilobytes: 200, gzipped: 58 },
  { what: "{ joinMesh } from '@mesh/browser'", kilobytes: 1_200, gzipped: 350 },
])('a browser that imports $what loads little', async ({ what, kilobytes, gzipped }, context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const { outputFiles } = await build({
    stdin: {
      contents: `import ${what}\nconsole.log(${what.replace(/ from .*/, '')})`,
      resolveDir: everything,
    },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const [{ contents } = { contents: new Uint8Array() }] = outputFiles
  expect(contents.length / 1_000).toBeLessThanOrEqual(kilobytes)
  expect(gzipSync(contents).length / 1_000).toBeLessThanOrEqual(gzipped)
})
