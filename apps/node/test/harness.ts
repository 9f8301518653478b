/**
 * Real `mesh` processes for tests: started from source, or from the build where `MESH_TEST_BUILD=1` says that it is of
 * these sources (scripts/check.mjs does: it starts in a third of the time). Told apart by their own folders, waited for
 * by their log lines, ended by their pid. Nothing of the person's own environment reaches them.
 *
 * @example
 * ```ts
 * const mesh = createMesh()
 * afterEach(() => mesh.cleanUp())
 * const node = await mesh.start({ token: makeToken() })
 * await node.client.putText({ bucket: 'notes', key: 'a', value: '1', wait: '5s' })
 * ```
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ApiClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { keepLog } from './node-logs.ts'

/** Found on loopback alone, without public or local discovery. */
export const LOOPBACK_ARGS: readonly string[] = [
  '--private',
  '--mdns=false',
  '--dht=false',
  '--listen-maddrs=/ip4/127.0.0.1/tcp/0',
]

export interface StartOptions {
  /** `api` unless given; `vpn` is `mesh` alone. */
  readonly command?:
    | 'api'
    | 'start'
    | 'dns'
    | 'vpn'
    | 'file-send'
    | 'file-receive'
    | 'service-add'
    | 'service-connect'
    | 'proxy'
  readonly token: string
  /** Added to LOOPBACK_ARGS, and after them. */
  readonly args?: readonly string[]
  /** In place of LOOPBACK_ARGS. */
  readonly baseArgs?: readonly string[]
  /** A folder of its own unless given; give one to start a node again. */
  readonly stateDir?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Words before the process: `['ip', 'netns', 'exec', 'a']`. */
  readonly prefix?: readonly string[]
  /** Run apps/node/dist (true) or the source (false), whatever the environment says. */
  readonly built?: boolean
  /** Resolve at this log line: `host listening` unless given. */
  readonly until?: string
  /** How long the start may take, in ms; 30 s unless given. */
  readonly startWithinMs?: number
}

/** One JSON log line. */
interface LogLine {
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

export interface NodeProcess {
  readonly pid: number
  readonly stateDir: string
  /** Peer id. */
  readonly id: string
  /** `http://127.0.0.1:PORT`; empty with `start`. */
  readonly url: string
  readonly controlSocket: string
  /** Over the TCP listener, or the control socket with `start`. */
  readonly client: ApiClient
  /** Over the control socket: reaches nodes in other network namespaces too. */
  readonly control: ApiClient
  /** Multiaddrs with `/p2p/ID`, to give to others as --discovery-bootstrap-peers. */
  readonly addresses: readonly string[]
  /** All log lines so far. */
  readonly lines: readonly LogLine[]
  waitForLine(message: string, withinMs?: number): Promise<LogLine>
  /** SIGTERM unless given; resolves when the process is gone. */
  stop(signal?: NodeJS.Signals): Promise<Exit>
  /** SIGKILL. */
  kill(): Promise<Exit>
  /** Closes this end of its output, as when whoever reads the log has died. */
  stopReading(): void
  /** SIGSTOP and SIGCONT. */
  suspend(): void
  resume(): void
  readonly exited: Promise<Exit>
}

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** From the request to stop until the process was gone. */
  readonly afterMs: number
}

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  /** Words before the process: `['ip', 'netns', 'exec', 'a']`. */
  readonly prefix?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
  readonly built?: boolean
}

export interface Mesh {
  /** Removed by `cleanUp`. */
  readonly folder: string
  start(options: StartOptions): Promise<NodeProcess>
  /** Runs one command to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<CommandResult>
  /** A fresh folder inside `folder`. */
  makeFolder(): string
  /** Ends every process that was started here and removes the folder. */
  cleanUp(): Promise<void>
}

const NODE_FOLDER = join(import.meta.dirname, '..')
/** Shared by all tests, so that only the first start compiles. */
const COMPILE_CACHE = join(NODE_FOLDER, 'node_modules/.cache/compiled')
const START_TIMEOUT_MS = 30_000
const RUN_TIMEOUT_MS = 30_000

/** A new private network's token. */
export function makeToken(intervalS: number | bigint = 360): string {
  return encodeToken(generateNetworkConfig({ intervalS }, systemRandom))
}

export function createMesh(): Mesh {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-'))
  const children = new Set<ChildProcess>()
  const track = (child: ChildProcess) => {
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  const makeFolder = () => mkdtempSync(join(folder, 's'))
  return {
    folder,
    makeFolder,
    start: (options) => startNode(options, options.stateDir ?? makeFolder(), folder, track),
    run: (args, options = {}) => runToEnd(args, options, folder, track),
    async cleanUp() {
      await Promise.all([...children].map(killAndWait))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What a process sees: nothing of the person's own settings, and home in the test's folder. */
function cleanEnvironment(home: string, added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH, LANG, NODE_EXTRA_CA_CERTS } = process.env
  return { PATH, LANG, NODE_EXTRA_CA_CERTS, HOME: home, NODE_COMPILE_CACHE: COMPILE_CACHE, ...added }
}

/** The words that run `mesh` in a shell, before its arguments. */
export function commandWords(built = process.env['MESH_TEST_BUILD'] === '1'): readonly [string, ...string[]] {
  return built
    ? [process.execPath, join(NODE_FOLDER, 'dist/main.js')]
    : [process.execPath, '--conditions=mesh-source', join(NODE_FOLDER, 'src/main.ts')]
}

async function startNode(
  options: StartOptions,
  stateDir: string,
  home: string,
  track: (child: ChildProcess) => ChildProcess,
): Promise<NodeProcess> {
  const { command = 'api', args = [], baseArgs = LOOPBACK_ARGS, prefix = [] } = options
  const listen =
    command === 'api' && !args.some((arg) => arg.startsWith('--listen=')) ? ['--listen=127.0.0.1:0'] : []
  const common = [`--state-dir=${stateDir}`, '--log-format=json', ...listen]
  const named = command === 'vpn' ? [] : [command]
  const [file = '', ...words] = [...prefix, ...commandWords(options.built), ...named]
  const child = spawn(file, [...words, ...common, ...baseArgs, ...args], {
    env: cleanEnvironment(home, { MESHTOKEN: options.token, ...options.environment }),
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: home,
  })
  track(child)
  const { lines, raw } = readLines(child)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  keepLog({ pid: child.pid ?? 0, lines: raw, hasEnded })
  const exit = watchExit(child)
  const waitForLine = (message: string, withinMs = START_TIMEOUT_MS) =>
    eventually(
      () => {
        const line = lines.find((each) => each.message === message)
        if (line !== undefined) return line
        throw new Error(`no line "${message}" yet; output so far:\n${raw.join('\n')}`)
      },
      { withinMs, everyMs: 5 },
    )
  const failed = exit.exited.then(({ code }) => {
    throw new Error(`the node ended with code ${code}:\n${raw.join('\n')}`)
  })
  const started = async () => {
    const api = await waitForLine('api listening', options.startWithinMs)
    await waitForLine(options.until ?? 'host listening', options.startWithinMs)
    return api
  }
  const api = await Promise.race([started(), failed])
  failed.catch(() => {})
  const url = typeof api['url'] === 'string' ? api['url'] : ''
  const controlSocket = String(api['socket'])
  const control = createNodeClient({ baseUrl: `unix://${controlSocket}` })
  return {
    pid: child.pid ?? 0,
    stateDir,
    id: String(api['id']),
    url,
    controlSocket,
    client: url === '' ? control : createNodeClient({ baseUrl: url }),
    control,
    addresses: addressesOf(lines),
    lines,
    waitForLine,
    stop: (signal = 'SIGTERM') => exit.end(signal),
    kill: () => exit.end('SIGKILL'),
    stopReading() {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    exited: exit.exited,
  }
}

/** Empty until the host listens. */
function addressesOf(lines: readonly LogLine[]): readonly string[] {
  const addresses = lines.find(({ message }) => message === 'host listening')?.['addresses']
  return Array.isArray(addresses) ? addresses.map(String) : []
}

function readLines(child: ChildProcess) {
  const lines: LogLine[] = []
  const raw: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      raw.push(line)
      if (!line.startsWith('{')) return
      try {
        lines.push(JSON.parse(line) as LogLine)
      } catch {
        // cut off by the end of the process
      }
    })
  }
  return { lines, raw }
}

function watchExit(child: ChildProcess) {
  let askedAt = performance.now()
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve({ code, signal, afterMs: performance.now() - askedAt }))
  })
  const end = (signal: NodeJS.Signals) => {
    askedAt = performance.now()
    child.kill(signal)
    return exited
  }
  return { exited, end }
}

function runToEnd(
  args: readonly string[],
  options: RunOptions,
  home: string,
  track: (child: ChildProcess) => ChildProcess,
): Promise<CommandResult> {
  const [file = '', ...words] = [...(options.prefix ?? []), ...commandWords(options.built)]
  const child = track(
    spawn(file, [...words, ...args], {
      env: cleanEnvironment(home, options.environment),
      cwd: options.cwd ?? home,
      stdio: 'pipe',
      timeout: RUN_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    }),
  )
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin?.on('error', () => {}).end(options.input ?? '')
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

async function killAndWait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}
