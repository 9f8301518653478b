/**
 * Two namespaces, an engine in each, frames through Node and one stream of node:net: TCP with 1 and 4 streams, small
 * UDP packets, ping idle and under load, CPU per GB by thread, batches, memory. Needs root and iperf3.
 *
 *   node_modules/.bin/node --conditions=mesh-source packages/engine/bench/throughput.ts [MEGABYTES] [MTU] [unix|tcp]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createPair, type Host, type Pair } from '../test/hosts.ts'

const [megabytes = '500', mtu = '1280', wire = 'tcp'] = process.argv.slice(2)
const SERVER = '10.9.0.2'
/** Until JavaScript is compiled and the memory is there. */
const WARM_UP_MEGABYTES = '200'
const UDP_SECONDS = '4'

interface Usage {
  /** Seconds by kind of thread: its own code, and the kernel for it. */
  readonly threads: Readonly<Record<string, readonly [number, number]>>
  readonly moved: Readonly<Record<'takes' | 'taken' | 'injects' | 'injected', number>>
  readonly memory: number
  readonly peer: { readonly drops: object }
}

const pair = await createPair(Number(mtu), wire === 'unix' ? wire : 'tcp')
const server = inside(pair, 'right', ['iperf3', '-s', '--forceflush'])
await once(server.stdout, 'data')
try {
  console.log(`MTU ${mtu}, ${megabytes} MB each, ${wire}`)
  await run(pair, ['iperf3', '-c', SERVER, '-n', `${WARM_UP_MEGABYTES}M`])
  console.log(`ping idle: ${await ping(pair, delay(2500))}`)
  for (const streams of ['1', '4']) await tcp(pair, streams)
  await smallUdp(pair)
  const [left, right] = [await usage(pair.left), await usage(pair.right)]
  console.log(`memory: ${[left, right].map(({ memory }) => `${(memory / 1e6).toFixed(0)} MB`).join(', ')}`)
  console.log('drops:', JSON.stringify([left.peer.drops, right.peer.drops]))
} finally {
  server.kill()
  await pair.close()
}

async function tcp(on: Pair, streams: string): Promise<void> {
  const ends = [on.left, on.right]
  const before = await Promise.all(ends.map(usage))
  const load = run(on, ['iperf3', '-c', SERVER, '-n', `${megabytes}M`, '-P', streams, '-J'])
  const pings = await ping(on, load)
  const { end } = JSON.parse(await load) as {
    end: { sum_received: { bits_per_second: number; bytes: number } }
  }
  const { bits_per_second: rate, bytes } = end.sum_received
  const after = await Promise.all(ends.map(usage))
  const reports = after.map((now, at) => report(before[at], now, bytes / 1e9))
  const total = reports.reduce((sum, { cpu }) => sum + cpu, 0)
  console.log(
    `TCP ${streams}: ${(rate / 1e9).toFixed(2)} Gbit/s, ${total.toFixed(1)} CPU s/GB, ping ${pings}`,
  )
  console.log(`  sends:    ${reports[0]?.text}\n  receives: ${reports[1]?.text}`)
}

/** What passed between two looks, per GB that iperf3 received. */
function report(from: Usage | undefined, to: Usage, gigabytes: number): { cpu: number; text: string } {
  let cpu = 0
  const threads: [number, string][] = []
  for (const [name, [user, system]] of Object.entries(to.threads)) {
    const [userBefore = 0, systemBefore = 0] = from?.threads[name] ?? []
    const [own, kernel] = [(user - userBefore) / gigabytes, (system - systemBefore) / gigabytes]
    cpu += own + kernel
    if (own + kernel > 0.05) threads.push([own + kernel, `${name} ${own.toFixed(2)} + ${kernel.toFixed(2)}`])
  }
  const since = (key: keyof Usage['moved']) => to.moved[key] - (from?.moved[key] ?? 0)
  const kilobytes = (bytes: number, calls: number) => (calls === 0 ? 0 : bytes / calls / 1024).toFixed(0)
  const batches = `take ${kilobytes(since('taken'), since('takes'))} KiB, inject ${kilobytes(since('injected'), since('injects'))} KiB`
  const sorted = threads.toSorted(([a], [b]) => b - a).map(([, text]) => text)
  return { cpu, text: `${sorted.join(', ')} (own + kernel, s/GB); ${batches}` }
}

async function smallUdp(on: Pair): Promise<void> {
  const result = await run(on, ['iperf3', '-c', SERVER, '-u', '-b', '0', '-l', '64', '-t', UDP_SECONDS, '-J'])
  const { end } = JSON.parse(result) as {
    end: { sum: { packets: number; lost_packets: number; seconds: number } }
  }
  const { packets, lost_packets: lost, seconds: took } = end.sum
  console.log(
    `UDP 64 bytes: ${((packets - lost) / took / 1000).toFixed(0)} kpps of ${(packets / took / 1000).toFixed(0)}`,
  )
}

/** Average and longest round trip in ms, until `end`. */
async function ping(on: Pair, end: Promise<unknown>): Promise<string> {
  const stop = new AbortController()
  void end.then(() => stop.abort())
  const text = await run(on, ['ping', '-n', '-q', '-i', '0.05', SERVER], stop.signal)
  const [, average, longest] = /= [\d.]+\/([\d.]+)\/([\d.]+)\//.exec(text) ?? []
  return `${average} ms (longest ${longest})`
}

async function usage(host: Host): Promise<Usage> {
  return (await host.ask('stats')) as unknown as Usage
}

/** With an aborted signal the program is interrupted, and says what it has. */
async function run(on: Pair, argv: readonly string[], signal?: AbortSignal): Promise<string> {
  const child = inside(on, 'left', argv)
  signal?.addEventListener('abort', () => child.kill('SIGINT'))
  let text = ''
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()))
  await once(child, 'exit')
  return text
}

function inside(on: Pair, host: string, argv: readonly string[]) {
  const [command, ...args] = on.lab.inside(host, argv)
  return spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}
