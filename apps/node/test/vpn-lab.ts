/**
 * Machines as network namespaces with a `mesh` process in each that runs the VPN, and the tools that people test a
 * network with: ping and iperf3.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { engineSupport } from '@mesh/engine'
import { eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { createMesh, type Mesh, makeToken, type NodeProcess } from './harness.ts'

/** Says why machines with the VPN cannot be tried here, which need these tools; undefined where they can. */
export function whyNoVpn(tools: readonly string[]): string | undefined {
  const support = engineSupport()
  return whyNoNamespaces(tools) ?? (support.supported ? undefined : support.message)
}

export interface Machine extends NodeProcess {
  readonly host: string
  /** Own VPN addresses, without prefix lengths. */
  readonly v4: string
  readonly v6: string
}

export interface VpnLab {
  readonly mesh: Mesh
  readonly token: string
  /** Resolves when the interface is up. */
  start(host: string, args?: readonly string[], options?: StartVpnOptions): Promise<Machine>
  /** Ends processes first, then whatever `close` of the lab removes. */
  close(): Promise<void>
}

interface StartVpnOptions {
  readonly stateDir?: string
  /** Another network than the lab's. */
  readonly token?: string
  readonly built?: boolean
}

/** How much longer than its test iperf3 may take, in ms: on a path that died it would wait for ever. */
const IPERF_PATIENCE_MS = 20_000
/**
 * How much is sent where no time is given: a moment over UDP, a second or so over a relay. The server tells what it had
 * read when all was sent, which would be little of what fits into the kernels' buffers.
 */
const IPERF_BYTES = '16M'
/** How long that may take, in s. */
const LONGEST_BYTES_S = 20
/** No public infrastructure, and nothing outside the namespaces to find. */
const VPN_ARGS = ['--private', '--dht=false', ...queuesArgs(process.env['MESH_TEST_QUEUES'])]
const UP_WITHIN_MS = 60_000

/** By hand any suite may be run with several queues: `MESH_TEST_QUEUES=2`. */
function queuesArgs(queues: string | undefined): readonly string[] {
  return queues === undefined ? [] : [`--tun-queues=${queues}`]
}

export function createVpnLab(lab: Lab, intervalS: number | bigint = 360): VpnLab {
  const mesh = createMesh()
  const token = makeToken(intervalS)
  return {
    mesh,
    token,
    async start(host, args = [], options = {}) {
      const node = await mesh.start({
        command: 'vpn',
        token,
        prefix: lab.inside(host, []),
        baseArgs: VPN_ARGS,
        args,
        ...options,
      })
      const up = await node.waitForLine('interface up', UP_WITHIN_MS)
      const addresses = (up['addresses'] as readonly string[]).map((text) => text.split('/')[0] ?? '')
      return {
        ...node,
        host,
        v4: addresses.find((address) => !address.includes(':')) ?? '',
        v6: addresses.find((address) => address.includes(':')) ?? '',
      }
    },
    async close() {
      await mesh.cleanUp()
      lab.close()
    },
  }
}

/**
 * The tool's standard output; rejects with all that it printed when it fails.
 *
 * @param withinMs it is killed after this time
 */
export function runIn(lab: Lab, host: string, argv: readonly string[], withinMs?: number): Promise<string> {
  const [file, ...words] = lab.inside(host, argv)
  const bound = withinMs === undefined ? {} : ({ timeout: withinMs, killSignal: 'SIGKILL' } as const)
  const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'pipe'], ...bound })
  let [out, error] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (error += part))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(out)
      else reject(new Error(`${argv.join(' ')} in ${host} ended with ${code}: ${out}${error}`))
    })
  })
}

export interface PingOptions {
  readonly count?: number
  /** Bytes of the ICMP payload; with it, the packets must not be fragmented. */
  readonly size?: number
  readonly from?: string
  /** How long all of it may take, in s; default: two more than it takes where every packet is answered. */
  readonly withinS?: number
}

/** `count` packets must be answered; with a deadline, as ping alone waits but two round trips for the last one. */
export async function ping(lab: Lab, host: string, to: string, options: PingOptions = {}): Promise<void> {
  const { count = 3, size, from, withinS = Math.ceil(count / 5) + 2 } = options
  const sized = size === undefined ? [] : ['-M', 'do', '-s', String(size)]
  const bound = from === undefined ? [] : ['-I', from]
  const argv = ['ping', '-n', '-i', '0.2', '-c', String(count), '-w', String(withinS), ...sized, ...bound, to]
  const out = await runIn(lab, host, argv)
  // with a deadline ping counts answers, and one that was late may come together with the next
  const received = Number(/ (\d+) received/.exec(out)?.[1] ?? 0)
  if (received < count) throw new Error(`ping ${to} from ${host}: ${out}`)
}

/** Until packets pass both ways: machines have to hear of each other first. */
export function pingSoon(lab: Lab, host: string, to: string, withinMs = 30_000): Promise<void> {
  return eventually(() => ping(lab, host, to, { count: 1 }), { withinMs, everyMs: 200 })
}

export interface Iperf {
  readonly bitsPerSecond: number
  readonly bytes: number
  /** UDP only. */
  readonly lostPercent: number
}

/** A server on `to`'s host until the returned function is called. */
export async function serveIperf(lab: Lab, host: string): Promise<() => Promise<void>> {
  const [file, ...words] = lab.inside(host, ['iperf3', '-s', '--forceflush'])
  const server: ChildProcess = spawn(file, words, { stdio: ['ignore', 'pipe', 'ignore'] })
  if (server.stdout !== null) await once(server.stdout, 'data')
  return async () => {
    if (server.exitCode !== null) return
    const gone = once(server, 'exit')
    server.kill()
    await gone
  }
}

interface IperfReport {
  readonly start: { readonly connected: readonly unknown[] }
  readonly end: {
    readonly sum_received?: { readonly bits_per_second: number; readonly bytes: number }
    readonly sum?: {
      readonly bits_per_second: number
      readonly bytes: number
      readonly lost_percent?: number
    }
  }
  readonly error?: string
}

export async function iperf(
  lab: Lab,
  host: string,
  to: string,
  args: readonly string[] = [],
): Promise<Iperf> {
  const isTimed = args.includes('-t')
  const seconds = isTimed ? Number(args[args.indexOf('-t') + 1]) : LONGEST_BYTES_S
  const length = isTimed || args.includes('-n') ? [] : ['-n', IPERF_BYTES]
  const argv = ['iperf3', '-c', to, '-J', '--connect-timeout', '3000', ...length, ...args]
  // its server takes one test at a time, and resets who comes while it ends the one before
  const { end } = await eventually(
    async () => {
      const out = await runIn(lab, host, argv, seconds * 1_000 + IPERF_PATIENCE_MS)
      const report = JSON.parse(out) as IperfReport
      if (report.start.connected.length === 0)
        throw new Error(`iperf3 from ${host} to ${to}: ${report.error}`)
      return report
    },
    { withinMs: 10_000, everyMs: 200 },
  )
  const sum = args.includes('-u') ? end.sum : end.sum_received
  if (sum === undefined) throw new Error(`iperf3 from ${host} to ${to} reports nothing`)
  return { bitsPerSecond: sum.bits_per_second, bytes: sum.bytes, lostPercent: end.sum?.lost_percent ?? 0 }
}
