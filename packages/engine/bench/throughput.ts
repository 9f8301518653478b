/**
 * Two namespaces, an engine in each, frames through Node and a unix socket: TCP with 1 and 4 streams, small UDP
 * packets, ping idle and under load, CPU per GB, memory. Needs root and iperf3.
 *
 *   pnpm exec node --conditions=mesh-source packages/engine/bench/throughput.ts [SECONDS] [MTU]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createPair, type Host, type Pair } from '../test/hosts.ts'

const [seconds = '4', mtu = '1280'] = process.argv.slice(2)
const SERVER = '10.9.0.2'

interface Usage {
  readonly cpu: { readonly user: number; readonly system: number }
  readonly memory: number
  readonly peer: { readonly drops: object }
}

const pair = await createPair(Number(mtu))
const server = inside(pair, 'right', ['iperf3', '-s', '--forceflush'])
await once(server.stdout, 'data')
try {
  console.log(`MTU ${mtu}, ${seconds} s each`)
  console.log(`ping idle: ${await ping(pair, 50)}`)
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
  const before = await cpuSeconds(on)
  const load = run(on, ['iperf3', '-c', SERVER, '-t', seconds, '-P', streams, '-J'])
  const pings = await ping(on, Number(seconds) * 20 - 20)
  const { end } = JSON.parse(await load) as {
    end: { sum_received: { bits_per_second: number; bytes: number } }
  }
  const { bits_per_second: rate, bytes } = end.sum_received
  const cpu = ((await cpuSeconds(on)) - before) / (bytes / 1e9)
  console.log(`TCP ${streams}: ${(rate / 1e9).toFixed(2)} Gbit/s, ${cpu.toFixed(1)} CPU s/GB, ping ${pings}`)
}

async function smallUdp(on: Pair): Promise<void> {
  const result = await run(on, ['iperf3', '-c', SERVER, '-u', '-b', '0', '-l', '64', '-t', seconds, '-J'])
  const { end } = JSON.parse(result) as {
    end: { sum: { packets: number; lost_packets: number; seconds: number } }
  }
  const { packets, lost_packets: lost, seconds: took } = end.sum
  console.log(
    `UDP 64 bytes: ${((packets - lost) / took / 1000).toFixed(0)} kpps of ${(packets / took / 1000).toFixed(0)}`,
  )
}

/** Average and longest round trip in ms. */
async function ping(on: Pair, count: number): Promise<string> {
  const text = await run(on, ['ping', '-n', '-q', '-c', String(count), '-i', '0.05', SERVER])
  const [, average, longest] = /= [\d.]+\/([\d.]+)\/([\d.]+)\//.exec(text) ?? []
  return `${average} ms (longest ${longest})`
}

async function cpuSeconds(on: Pair): Promise<number> {
  const both = await Promise.all([usage(on.left), usage(on.right)])
  return both.reduce((sum, { cpu }) => sum + (cpu.user + cpu.system) / 1e6, 0)
}

async function usage(host: Host): Promise<Usage> {
  return (await host.ask('stats')) as unknown as Usage
}

async function run(on: Pair, argv: readonly string[]): Promise<string> {
  const child = inside(on, 'left', argv)
  let text = ''
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()))
  await once(child, 'exit')
  return text
}

function inside(on: Pair, host: string, argv: readonly string[]) {
  const [command, ...args] = on.lab.inside(host, argv)
  return spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}
