/**
 * `@mesh/node` as people install it: the command and the programs of `examples/`, from the tarball, in an empty project, on
 * three versions of Node.
 */
import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateToken } from '../src/index.ts'
import { documentedExamples } from './documented-examples.ts'
import { installInto, isTarballOf, measure, packAll, whyUnreachable } from './npm-project.ts'
import { readCommandBlocks } from './readme/command-blocks.ts'
import { createCleanUps } from './suite.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const work = mkdtempSync(join(tmpdir(), 'mesh-npm-'))
const user = join(work, 'user')
const cleanUps = createCleanUps()
const EXAMPLES = ['http-service', 'job-queue', 'leader-election', 'name-watcher']
const SETTINGS = { mdns: false, dht: false, 'listen-maddrs': '/ip4/127.0.0.1/tcp/0' }
/** The same for commands. */
const LOOPBACK = {
  MESHPRIVATE: 'true',
  MESHMDNS: 'false',
  MESHLISTENMADDRS: '/ip4/127.0.0.1/tcp/0',
  MESHLISTEN: '127.0.0.1:0',
  MESHLOGLEVEL: 'warn',
}
const SOON = { withinMs: 20_000, everyMs: 50 }
const documented = documentedExamples(root).filter((example) => example.package === '@mesh/node')
const token = generateToken()
/** Set when npm reaches no registry. */
let unreachable: string | undefined

beforeAll(async () => {
  if (!existsSync(join(root, 'apps/node/dist/index.d.ts'))) {
    unreachable = 'the packages are not built'
    return
  }
  const packed = await packAll(work)
  const wanted = packed.filter((file) => isTarballOf('node', file) || file.includes('/mesh-engine-linux-'))
  unreachable = await whyUnreachable(installInto(user, wanted))
  for (const name of EXAMPLES) {
    const isCode = (path: string) => !path.includes('node_modules')
    cpSync(join(root, 'examples', name), join(user, name), { recursive: true, filter: isCode })
  }
  // on loopback alone
  const bound = `private: true, settings: ${JSON.stringify(SETTINGS)}`
  for (const { name, code } of documented)
    writeFileSync(join(user, `${name}.ts`), code.replaceAll('private: true', bound))
}, 180_000)

afterAll(() => rmSync(work, { recursive: true, force: true }))

interface Program {
  /** Its lines on standard output. */
  readonly lines: string[]
  readonly ended: Promise<number | null>
  /** Sends the signal to the process and its children. */
  readonly kill: (signal: NodeJS.Signals) => void
}

/** Starts a program in the user's project; what it writes to standard error is shown. */
function start(words: readonly string[], node = process.execPath): Program {
  // nothing but its own folders and loopback
  const env = { ...LOOPBACK, PATH: process.env['PATH'], HOME: work, XDG_STATE_HOME: join(work, 's') }
  // a group of its own, as in a terminal: npx hands no signal on
  const child = spawn(node, words, { cwd: user, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const { pid } = child
  if (pid === undefined) throw new Error(`${node} cannot be started`)
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-pid, signal)
    } catch {
      // all of them have ended
    }
  }
  const ended = new Promise<number | null>((done) => child.once('close', done))
  cleanUps.push(async () => {
    kill('SIGKILL')
    await ended
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  return { lines, ended, kill }
}

/** Starts an example in the role, with the others of its test as its first peers. */
async function startExample(
  name: string,
  role: readonly string[],
  others: readonly Program[] = [],
): Promise<Program> {
  const bootstrapPeers = others.flatMap(({ lines }) => addressesOf(lines))
  const file = join(mkdtempSync(join(work, 'options-')), 'mesh.json')
  const options = { token, ephemeral: true, private: true, bootstrapPeers, settings: SETTINGS }
  writeFileSync(file, JSON.stringify(options), { mode: 0o600 })
  const program = start([join(name, 'main.ts'), file, ...role])
  await eventually(() => expect(program.lines[0]).toMatch(/^joined /), SOON)
  return program
}

const addressesOf = (lines: readonly string[]) => lines[0]?.replace('joined ', '').split(',') ?? []
const idOf = ({ lines }: Program) => /\/p2p\/(\w+)/.exec(lines[0] ?? '')?.[1] ?? ''

async function interrupt({ kill, ended }: Program): Promise<void> {
  kill('SIGINT')
  expect(await ended).toBe(0)
}

test('the package has few dependencies and little on disk', (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const { names, megabytes } = measure(user)
  expect(names.length).toBeLessThanOrEqual(80)
  expect(megabytes).toBeLessThanOrEqual(60)
  expect(readFileSync(join(user, 'node_modules/@mesh/node/dist/NOTICES.txt'), 'utf8')).toContain('\nlibp2p 3')
  expect(names.filter((name) => name.startsWith('@mesh/') && !/^@mesh\/(node|engine-)/.test(name))).toEqual(
    [],
  )
})

test.for([
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
])('the examples pass the strictest checks of types with $moduleResolution', async (how, context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const compilerOptions = {
    ...how,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    typeRoots: [join(root, 'node_modules/@types')],
    types: ['node'],
    skipLibCheck: false,
    noEmit: true,
    allowImportingTsExtensions: true,
  }
  const file = `tsconfig.${how.module}.json`
  writeFileSync(join(user, file), JSON.stringify({ compilerOptions, include: ['*.ts', '*/*.ts'] }))
  const tsc = join(root, 'node_modules/typescript-native/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', file], { cwd: user }).catch((error) => error)
  expect(stdout).toBe('')
})

test('the HTTP service answers a member, and knows who asks', async (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const server = await startExample('http-service', ['serve'])
  await eventually(() => expect(server.lines).toContain('serves'), SOON)
  const asking = await startExample('http-service', ['ask', 'Ada'], [server])
  expect(await asking.ended).toBe(0)
  expect(asking.lines[1]).toBe(`200 Hello Ada, you are ${idOf(asking)}`)
  await interrupt(server)
}, 60_000)

test('the job queue does each job, on both workers, also when one dies', async (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const first = await startExample('job-queue', ['work'])
  const second = await startExample('job-queue', ['work'], [first])
  const jobs = ['a', 'b', 'c', 'd', 'e', 'f']
  const submitting = await startExample('job-queue', ['submit', ...jobs], [first])
  await eventually(() => {
    for (const { lines } of [first, second])
      expect(lines.some((line) => line.startsWith('works on'))).toBe(true)
  }, SOON)
  first.kill('SIGKILL')
  expect(await submitting.ended).toBe(0)
  expect(submitting.lines.slice(1)).toEqual(jobs.map((job) => `result ${job.toUpperCase()}`))
  await interrupt(second)
}, 90_000)

test('candidates follow one leader, and another one when it ends', async (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const first = await startExample('leader-election', [])
  const others = await Promise.all([1, 2].map(() => startExample('leader-election', [], [first])))
  const byId = [first, ...others].toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
  const [leader, next, last] = byId as [Program, Program, Program]
  await eventually(() => {
    expect([leader, next, last].map(({ lines }) => lines.at(-1))).toEqual([
      'leads',
      `follows ${idOf(leader)}`,
      `follows ${idOf(leader)}`,
    ])
  }, SOON)
  await interrupt(leader)
  await eventually(() => {
    expect([next, last].map(({ lines }) => lines.at(-1))).toEqual(['leads', `follows ${idOf(next)}`])
  }, SOON)
}, 60_000)

test('the bot tells the names that come and go', async (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const bot = await startExample('name-watcher', [])
  const server = await startExample('http-service', ['serve'], [bot])
  const line = (word: string) => `${word} services "greeter" of ${idOf(server)}`
  await eventually(() => expect(bot.lines).toContain(line('new')), SOON)
  await interrupt(server)
  await eventually(() => expect(bot.lines).toContain(line('gone')), SOON)
  await interrupt(bot)
}, 60_000)

test('the commands of README.md work', async (context) => {
  if (unreachable !== undefined) return context.skip(unreachable)
  const blocks = readCommandBlocks(join(root, 'apps/node/README.md'), (language) => language === 'sh npm')
  const [make = '', api = '', status = '', put = '', watch = '', ...more] = blocks.flatMap(
    (each) => each.commands,
  )
  expect(more).toEqual([])
  const shell = (command: string) => start(['-c', `PATH=$PWD/node_modules/.bin:$PATH; ${command}`], 'sh')
  const must = async (command: string) => {
    const { ended, lines } = shell(command)
    expect({ command, code: await ended }).toEqual({ command, code: 0 })
    return lines.join('\n')
  }
  await must(make)
  const node = shell(`exec ${api}`)
  await eventually(() => expect(node.lines.join()).toContain('"url":"http'), SOON)
  expect(await must(status)).toMatch(/^node /m)
  const watching = shell(`exec ${watch}`)
  await eventually(async () => {
    await must(put.replace('hello', crypto.randomUUID()))
    expect(watching.lines.join()).toContain('greeting')
  }, SOON)
  node.kill('SIGINT')
  await node.ended
})

/** The newest Node of a major version, from the registry. */
async function nodeOf(major: string): Promise<string> {
  const folder = join(work, `node-${major}`)
  await installInto(folder, [`node-${process.platform}-${process.arch}@${major}`])
  return join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node')
}

test.for(['22', '24', 'this'])(
  'on Node %s the command, its page and a program work',
  async (major, context) => {
    if (unreachable !== undefined) return context.skip(unreachable)
    const node = major === 'this' ? process.execPath : await nodeOf(major).catch(() => undefined)
    if (node === undefined) return context.skip(`the registry has no Node ${major} for this machine`)
    const mesh = join(user, 'node_modules/.bin/mesh')
    const { stdout, stderr } = await run(node, [mesh, '--version'])
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+\n$/), ''])
    writeFileSync(join(user, 'mesh.token'), token, { mode: 0o600 })
    const words = ['api', '--token-file=mesh.token', '--ephemeral']
    const api = start([mesh, ...words], node)
    const url = await eventually(() => {
      const [, found] = /"url":"([^"]*)"/.exec(api.lines.join()) ?? []
      expect(found).toBeDefined()
      return found
    }, SOON)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await (await fetch(`${url}/`)).text()).toContain('<html')
    await interrupt(api)
    // each of two nodes of one process does what README.md shows
    for (const { name } of documented) {
      const program = start([`${name}.ts`], node)
      expect(await program.ended).toBe(0)
    }
  },
)
