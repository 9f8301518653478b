/**
 * The VPN beside wireguard-go and EdgeVPN: two network namespaces joined by a virtual wire, both ends and
 * iperf3 on the same cores, the variants one after another in every round, medians over the rounds. Trust the ratios.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { engineSupport } from '@mesh/engine'
import { createLab, eventually, findWireguardGo, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { startEdgevpn, whyNoEdgevpn } from '../test/edgevpn.ts'
import { createVpnLab, iperf, type Machine, ping, pingSoon, runIn, serveIperf } from '../test/vpn-lab.ts'
import { median, round } from './statistics.ts'

const ROUNDS = 3
const SECONDS = '4'
/** How long a tunnel may take until the first packet passes, in ms: a busy machine is slow, and that is not measured. */
const SET_UP_MS = 120_000
const WIRE = { left: '192.168.99.1', right: '192.168.99.2' }
/** Ticks of /proc/PID/stat a second. */
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** A tunnel that stands, from host `left` to `to`. */
interface Tunnel {
  readonly lab: Lab
  readonly to: string
  readonly pids: readonly number[]
  close(): Promise<void>
}

interface Figures {
  readonly tcp1Gbps: number
  readonly tcp4Gbps: number
  /** Small UDP packets that arrived, a second. */
  readonly kpps: number
  readonly pingIdleMs: number
  readonly pingLoadedMs: number
  readonly cpuSecondsPerGB: number
  /** Of one core, what the threads that run JavaScript took while TCP ran; the busier end. */
  readonly mainThreadPercent: number
  readonly rssMB: number
}

const VARIANTS: Readonly<
  Record<string, { readonly why: () => string | undefined; readonly open: () => Promise<Tunnel> }>
> = {
  wire: { why: () => undefined, open: openWire },
  wireguardGo: { why: whyNoWireguardGo, open: openWireguardGo },
  edgevpn: { why: whyNoEdgevpn, open: openEdgevpn },
  streams: { why: () => undefined, open: () => openOurs(['--no-udp']) },
  ours: { why: () => undefined, open: () => openOurs(['--mtu=1420']) },
}

/** @param names variants to measure; all unless given */
export async function measureVpn(names: readonly string[] = Object.keys(VARIANTS)) {
  const support = engineSupport()
  const skipped =
    whyNoNamespaces(['ip', 'iperf3', 'ping']) ?? (support.supported ? undefined : support.message)
  if (skipped !== undefined) return { skipped }
  const rounds = new Map<string, Figures[]>()
  const left: Record<string, string> = {}
  for (let at = 0; at < ROUNDS; at++) {
    for (const name of names) {
      const variant = VARIANTS[name]
      const reason = variant === undefined ? 'no such variant' : variant.why()
      if (variant === undefined || reason !== undefined) {
        left[name] = reason ?? ''
        continue
      }
      const figures = await measure(await variant.open())
      process.stderr.write(`vpn ${name}: ${JSON.stringify(figures)}\n`)
      rounds.set(name, [...(rounds.get(name) ?? []), figures])
    }
  }
  const medians = Object.fromEntries([...rounds].map(([name, all]) => [name, mediansOf(all)]))
  return { rounds: ROUNDS, ...medians, skipped: left, ratios: ratiosOf(medians) }
}

async function measure({ lab, to, pids, close }: Tunnel): Promise<Figures> {
  const stops = [await serveIperf(lab, 'right')]
  try {
    await ping(lab, 'left', to, { count: 20, withinS: SET_UP_MS / 1000 })
    const pingIdleMs = await averagePing(lab, to, 40)
    const cpuBefore = cpuOf(pids)
    const mainBefore = pids.map(mainThreadSeconds)
    const began = performance.now()
    const one = await iperf(lab, 'left', to, ['-t', SECONDS])
    const four = await iperf(lab, 'left', to, ['-t', SECONDS, '-P', '4'])
    const cpuSecondsPerGB = (cpuOf(pids) - cpuBefore) / ((one.bytes + four.bytes) / 1e9)
    const seconds = (performance.now() - began) / 1000
    const main = pids.map((pid, at) => mainThreadSeconds(pid) - (mainBefore[at] ?? 0))
    const load = iperf(lab, 'left', to, ['-t', SECONDS])
    const pingLoadedMs = await averagePing(lab, to, 50)
    await load
    const small = await iperf(lab, 'left', to, ['-t', '2', '-u', '-b', '0', '-l', '64'])
    const arrived = (small.bytes / 64) * (1 - small.lostPercent / 100)
    return {
      tcp1Gbps: round(one.bitsPerSecond / 1e9, 3),
      tcp4Gbps: round(four.bitsPerSecond / 1e9, 3),
      kpps: round(arrived / 2 / 1000, 1),
      pingIdleMs,
      pingLoadedMs,
      cpuSecondsPerGB: round(cpuSecondsPerGB, 1),
      mainThreadPercent: round((100 * Math.max(0, ...main)) / seconds, 1),
      rssMB: round(Math.max(0, ...pids.map(residentMB)), 0),
    }
  } finally {
    for (const stop of stops) await stop()
    await close()
  }
}

/** Milliseconds; pings that get no answer in a second do not count. */
async function averagePing(lab: Lab, to: string, count: number): Promise<number> {
  const out = await runIn(lab, 'left', ['ping', '-n', '-q', '-i', '0.05', '-W', '1', '-c', String(count), to])
  return Number(/= [\d.]+\/([\d.]+)\//.exec(out)?.[1])
}

function mediansOf(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0] ?? {}) as (keyof Figures)[]
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((each) => each[name]))]),
  ) as unknown as Figures
}

function ratiosOf({ ours, streams, edgevpn, wireguardGo }: Readonly<Record<string, Figures>>) {
  if (ours === undefined) return {}
  const to = (other: Figures | undefined) =>
    other === undefined
      ? undefined
      : Object.fromEntries(
          (Object.keys(ours) as (keyof Figures)[]).map((name) => [name, round(ours[name] / other[name])]),
        )
  return { oursToEdgevpn: to(edgevpn), oursToWireguardGo: to(wireguardGo), oursToStreams: to(streams) }
}

function createWire(): Lab {
  const lab = createLab(['left', 'right'])
  lab.wire(
    { host: 'left', device: 'eth0', addresses: [`${WIRE.left}/24`] },
    { host: 'right', device: 'eth0', addresses: [`${WIRE.right}/24`] },
  )
  return lab
}

async function openWire(): Promise<Tunnel> {
  const lab = createWire()
  return { lab, to: WIRE.right, pids: [], close: async () => lab.close() }
}

/** @param args what both ends are given besides: over UDP, or by streams */
async function openOurs(args: readonly string[]): Promise<Tunnel> {
  const lab = createWire()
  const vpn = createVpnLab(lab)
  const close = () => vpn.close()
  try {
    const built = { built: true }
    const [left, right] = await Promise.all([
      vpn.start('left', ['--address=10.1.0.1/24', ...args], built),
      vpn.start('right', ['--address=10.1.0.2/24', ...args], built),
    ])
    await pingSoon(lab, 'left', right.v4, SET_UP_MS)
    if (!args.includes('--no-udp')) await Promise.all([left, right].map(untilOverUdp))
    return { lab, to: right.v4, pids: [left.pid, right.pid], close }
  } catch (error) {
    await close()
    throw error
  }
}

async function untilOverUdp({ control }: Machine): Promise<void> {
  await eventually(async () => {
    const { Peers } = await control.getVpn()
    if (!Peers.every(({ UDP }) => UDP.State === 'direct')) throw new Error('not over UDP')
  })
}

async function openEdgevpn(): Promise<Tunnel> {
  const lab = createWire()
  // a token of ours is one of theirs
  const vpn = createVpnLab(lab)
  const start = (host: string, address: string) =>
    startEdgevpn({
      token: vpn.token,
      apiPort: 18096,
      vpnAddress: `${address}/24`,
      prefix: lab.inside(host, []),
    })
  const [left, right] = await Promise.all([start('left', '10.1.0.1'), start('right', '10.1.0.2')])
  const close = async () => {
    await Promise.all([left.stop(), right.stop()])
    await vpn.close()
  }
  try {
    await pingSoon(lab, 'left', '10.1.0.2', SET_UP_MS)
    return { lab, to: '10.1.0.2', pids: [left.pid, right.pid], close }
  } catch (error) {
    await close()
    throw error
  }
}

function whyNoWireguardGo(): string | undefined {
  const found = findWireguardGo()
  return 'skipped' in found ? found.skipped : undefined
}

/** Each with its own device name: the processes share a folder of control sockets across namespaces. */
async function openWireguardGo(): Promise<Tunnel> {
  const lab = createWire()
  const wireguardGo = findWireguardGo()
  if ('skipped' in wireguardGo) throw new Error(wireguardGo.skipped)
  const children: ChildProcess[] = []
  const close = async () => {
    await Promise.all(children.map(end))
    lab.close()
  }
  try {
    const keys = { left: makeKey(), right: makeKey() }
    for (const [host, other, address] of [
      ['left', 'right', '10.1.0.1'],
      ['right', 'left', '10.1.0.2'],
    ] as const) {
      const device = `wg-${host}`
      const [file, ...words] = lab.inside(host, [wireguardGo.file, '-f', device])
      const environment = {
        ...process.env,
        WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1',
        LOG_LEVEL: 'error',
      }
      children.push(spawn(file, words, { stdio: 'ignore', env: environment }))
      await untilDevice(lab, host, device)
      const peer = [
        'peer',
        keys[other].publicKey,
        'allowed-ips',
        '10.1.0.0/24',
        'endpoint',
        `${WIRE[other]}:51820`,
      ]
      const set = `printf %s '${keys[host].privateKey}' | wg set ${device} listen-port 51820 private-key /dev/stdin ${peer.join(' ')}`
      await runIn(lab, host, ['sh', '-c', set])
      lab.run(host, ['ip', 'addr', 'add', `${address}/24`, 'dev', device])
      lab.run(host, ['ip', 'link', 'set', device, 'up'])
    }
    await pingSoon(lab, 'left', '10.1.0.2', SET_UP_MS)
    return { lab, to: '10.1.0.2', pids: children.map(({ pid = 0 }) => pid), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function untilDevice(lab: Lab, host: string, device: string): Promise<void> {
  await runIn(lab, host, [
    'sh',
    '-c',
    `for i in $(seq 100); do wg show ${device} >/dev/null 2>&1 && exit; sleep 0.05; done; exit 1`,
  ])
}

function makeKey() {
  const privateKey = execFileSync('wg', ['genkey'], { encoding: 'utf8' }).trim()
  const publicKey = execFileSync('wg', ['pubkey'], { encoding: 'utf8', input: privateKey }).trim()
  return { privateKey, publicKey }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill()
  await gone
}

/** User and system seconds of processes. */
function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS
  }, 0)
}

/** User and system seconds of a process's first thread, which runs its JavaScript. */
function mainThreadSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

function residentMB(pid: number): number {
  const kB = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kB) / 1000
}
