/**
 * A service beside a direct connection and `ssh -L`, all over loopback with both ends on the same cores, one after
 * another in every round, medians over the rounds; how soon a fresh node can be used; requests through the proxy. Trust
 * the ratios.
 *
 * What is behind them: a round trip passes two processes twice, and a process of Node takes longer to wake, read and
 * write than one in C. The route `node`, two processes of Node that do nothing but copy between TCP and TLS, shows what
 * that costs in the same run: no service in JavaScript is faster. A new connection costs one round trip and two dials:
 * what the client says at once goes along with the request.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { eventually, freePort } from '@mesh/testkit'
import { makeToken, type Mesh, type NodeProcess } from '../../apps/node/test/harness.ts'
import { portOf, proxyOf, startEcho, startHttp } from '../../apps/node/test/service-lab.ts'
import { startBareRelay } from './bare-relay.ts'
import { endProcess, openSshd, reachable, whyNoSshd } from './sshd.ts'
import { median, round } from './statistics.ts'
import { withMesh } from './with-mesh.ts'

const ROUNDS = 3
const SECONDS = '3'
const ROUND_TRIPS = 2_000
const CONNECTIONS = 200
const STARTS = 5
const REQUESTS = 4_000
const CONCURRENT = 32
/** No single figure takes so long, in ms: what hangs fails, and says so. */
const GIVE_UP_MS = 30_000

/** Ports that lead to iperf3 and to an echo. */
interface TargetPorts {
  readonly bulk: number
  readonly echo: number
}

interface Figures {
  readonly upGbps: number
  readonly downGbps: number
  readonly roundTripMs: number
  readonly connectMs: number
}

export async function measureServices() {
  const hasIperf = spawnSync('sh', ['-c', 'command -v iperf3']).status === 0
  const skipped = hasIperf ? whyNoSshd() : 'iperf3 is not installed'
  if (skipped !== undefined) return { skipped }
  return await withMesh(measureAll)
}

async function measureAll(mesh: Mesh, ends: (() => unknown)[]) {
  const echo = await startEcho()
  const bulk = await freePort()
  const iperf = spawn('iperf3', ['-s', '-B', '127.0.0.1', '-p', String(bulk)], { stdio: 'ignore' })
  ends.push(
    () => echo.close(),
    () => iperf.kill('SIGKILL'),
  )
  const token = makeToken()
  const provider = await mesh.start({
    command: 'start',
    token,
    built: true,
    args: [`--service-add=bulk=:${bulk},echo=:${echo.port}`, '--egress', '--egress-allow=127.0.0.1'],
    until: 'all transports listening',
  })
  const bootstrap = `--discovery-bootstrap-peers=${provider.addresses[0]}`
  const client = await mesh.start({
    command: 'start',
    token,
    built: true,
    args: [bootstrap, '--service-connect=bulk=:0,echo=:0', '--proxy=127.0.0.1:0'],
    until: 'service provider',
  })
  const routes: Record<string, TargetPorts> = {
    direct: { bulk, echo: echo.port },
    ssh: await openSsh({ bulk, echo: echo.port }, ends),
    node: await openBareRelays({ bulk, echo: echo.port }, ends),
    ours: { bulk: await portOf(client, 'bulk'), echo: await portOf(client, 'echo') },
  }
  const rounds = new Map<string, Figures[]>()
  for (let at = 0; at < ROUNDS; at++) {
    for (const [name, ports] of Object.entries(routes)) {
      const figures = await measurePorts(ports)
      process.stderr.write(`services ${name}: ${JSON.stringify(figures)}\n`)
      rounds.set(name, [...(rounds.get(name) ?? []), figures])
    }
  }
  const medians = Object.fromEntries([...rounds].map(([name, all]) => [name, mediansOf(all)]))
  const proxy = await measureProxy(client, ends)
  await client.stop()
  return {
    rounds: ROUNDS,
    ...medians,
    ratiosToSsh: ratios(medians['ours'], medians['ssh']),
    /** What Node's sockets allow: two processes that only copy. */
    ratiosToNode: ratios(medians['ours'], medians['node']),
    usableAfterMs: await measureStart(mesh, token, bootstrap),
    proxy,
  }
}

async function measurePorts({ bulk, echo }: TargetPorts): Promise<Figures> {
  return {
    upGbps: await iperf3(bulk, []),
    downGbps: await iperf3(bulk, ['-R']),
    roundTripMs: await measureRoundTrip(echo),
    connectMs: await measureConnect(echo),
  }
}

async function iperf3(port: number, args: readonly string[]): Promise<number> {
  const words = ['-c', '127.0.0.1', '-p', String(port), '-t', SECONDS, '-J', ...args]
  const child = spawn('iperf3', words, { stdio: ['ignore', 'pipe', 'ignore'], timeout: GIVE_UP_MS })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
  await once(child, 'close')
  const report = (out === '' ? { error: 'it hung' } : JSON.parse(out)) as {
    end?: { sum_received?: { bits_per_second: number } }
    error?: string
  }
  if (report.end?.sum_received === undefined) throw new Error(`iperf3: ${report.error ?? 'no figures'}`)
  return round(report.end.sum_received.bits_per_second / 1e9, 3)
}

/** One byte and back, over one connection. */
async function measureRoundTrip(port: number): Promise<number> {
  const socket = connectOnce(port)
  const times: number[] = []
  for (let at = 0; at < ROUND_TRIPS; at++) {
    const began = performance.now()
    socket.write('x')
    await once(socket, 'data')
    times.push(performance.now() - began)
  }
  socket.destroy()
  return round(median(times), 3)
}

/** From connecting to the first byte back, one connection after another. */
async function measureConnect(port: number): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < CONNECTIONS; at++) {
    const began = performance.now()
    const socket = connectOnce(port)
    socket.write('x')
    await once(socket, 'data')
    times.push(performance.now() - began)
    socket.destroy()
  }
  return round(median(times), 3)
}

/** What is closed, or not answered in time, is an error of the socket, which ends who waits for bytes. */
function connectOnce(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, timeout: GIVE_UP_MS })
  socket.on('timeout', () => socket.destroy(new Error(`no answer on port ${port}`)))
  socket.on('end', () => socket.destroy(new Error(`port ${port} closed the connection`)))
  return socket
}

/** From the start of the process to the first byte through it. */
async function measureStart(mesh: Mesh, token: string, bootstrap: string) {
  const times: number[] = []
  const stateDir = mesh.makeFolder()
  for (let at = 0; at < STARTS; at++) {
    const port = await freePort()
    const began = performance.now()
    const answered = untilEchoed(port)
    const starting = mesh.start({
      command: 'service-connect',
      token,
      built: true,
      stateDir,
      args: [bootstrap, 'echo', `127.0.0.1:${port}`],
    })
    await answered
    times.push(performance.now() - began)
    await (await starting).stop()
  }
  return { median: round(median(times), 0), all: times.map((time) => round(time, 0)) }
}

async function untilEchoed(port: number): Promise<void> {
  await eventually(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port })
        socket.once('error', reject)
        socket.once('close', () => reject(new Error('closed')))
        socket.once('data', () => {
          resolve()
          socket.destroy()
        })
        socket.write('x')
      }),
    { withinMs: 30_000, everyMs: 5 },
  )
}

async function measureProxy(client: NodeProcess, ends: (() => unknown)[]) {
  const origin = await startHttp()
  ends.push(() => origin.close())
  const proxyPort = Number(/:(\d+)$/.exec(await proxyOf(client))?.[1])
  const url = `http://127.0.0.1:${origin.port}/`
  const bare = await startBareRelay(origin.port, 'proxy')
  ends.push(() => bare.stop())
  const proxied = { path: url, headers: { host: `127.0.0.1:${origin.port}` } }
  const ways = {
    direct: { port: origin.port, path: '/' },
    node: { port: bare.port, ...proxied },
    ours: { port: proxyPort, ...proxied },
  }
  const rates = { direct: [] as number[], node: [] as number[], ours: [] as number[] }
  for (let at = 0; at < ROUNDS; at++) {
    for (const way of ['direct', 'node', 'ours'] as const) rates[way].push(await requestRate(ways[way]))
  }
  const [direct, node, ours] = [median(rates.direct), median(rates.node), median(rates.ours)]
  return {
    directPerSecond: round(direct, 0),
    nodePerSecond: round(node, 0),
    perSecond: round(ours, 0),
    ratio: round(ours / direct, 3),
    /** What Node's HTTP allows: two processes, an HTTP proxy and what it reaches over TLS. */
    ratioToNode: round(ours / node, 2),
  }
}

async function requestRate(options: { readonly port: number; readonly path: string }): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT })
  let left = REQUESTS
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get({ ...options, host: '127.0.0.1', agent, timeout: GIVE_UP_MS }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`))
        response.resume().once('end', resolve)
      })
        .once('error', reject)
        .once('timeout', () => reject(new Error('a request was not answered')))
    })
  const began = performance.now()
  const worker = async () => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: CONCURRENT }, worker))
  agent.destroy()
  return REQUESTS / ((performance.now() - began) / 1_000)
}

/** `ssh -L` to both, by a server of its own on loopback. */
async function openSsh(to: TargetPorts, ends: (() => unknown)[]): Promise<TargetPorts> {
  const sshd = await openSshd(ends)
  const [bulk, echo] = [await freePort(), await freePort()]
  const forwards = [
    '-L',
    `127.0.0.1:${bulk}:127.0.0.1:${to.bulk}`,
    '-L',
    `127.0.0.1:${echo}:127.0.0.1:${to.echo}`,
  ]
  const words = ['-N', '-p', String(sshd.port), ...sshd.options, ...forwards, sshd.target]
  const client = spawn('ssh', words, { stdio: 'ignore' })
  ends.push(() => endProcess(client))
  await eventually(() => reachable(echo), { withinMs: 20_000 })
  return { bulk, echo }
}

/** Two bare processes of Node for each port, in place of ours. */
async function openBareRelays(to: TargetPorts, ends: (() => unknown)[]): Promise<TargetPorts> {
  const [bulk, echo] = [await startBareRelay(to.bulk), await startBareRelay(to.echo)]
  ends.push(
    () => bulk.stop(),
    () => echo.stop(),
  )
  return { bulk: bulk.port, echo: echo.port }
}

function mediansOf(all: readonly Figures[]): Figures {
  const of = (pick: (figures: Figures) => number) => round(median(all.map(pick)), 3)
  return {
    upGbps: of((each) => each.upGbps),
    downGbps: of((each) => each.downGbps),
    roundTripMs: of((each) => each.roundTripMs),
    connectMs: of((each) => each.connectMs),
  }
}

/** Above 1 is better than the other, also for times. */
function ratios(ours: Figures | undefined, other: Figures | undefined) {
  if (ours === undefined || other === undefined) return undefined
  return {
    up: round(ours.upGbps / other.upGbps, 2),
    down: round(ours.downGbps / other.downGbps, 2),
    roundTrip: round(other.roundTripMs / ours.roundTripMs, 2),
    connect: round(other.connectMs / ours.connectMs, 2),
  }
}
