/** The tunnels that are compared: each between two namespaces of its own, `left` and `right`, joined by a virtual wire. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { createLab, eventually, findWireguardGo, type Lab } from '@mesh/testkit'
import { startEdgevpn, whyNoEdgevpn } from '../../../apps/node/test/edgevpn.ts'
import { createVpnLab, type Machine, pingSoon } from '../../../apps/node/test/vpn-lab.ts'
import { addWireguardPeers, makeWireguardKeys, setWireguardKey } from './wireguard-uapi.ts'

/** How long a tunnel may take until the first packet passes, in ms: a busy machine is slow, and that is not measured. */
const SET_UP_MS = 60_000
/** How long a node is left alone after its start, in ms: it compiles, and collects its heap once some 10 s after its last peer came. */
const SETTLE_MS = 15_000
const WIRE = { left: '192.168.99.1', right: '192.168.99.2' }
export const WIREGUARD_PORT = 51_820

/** A tunnel that stands, from host `left` to the address `to`. */
export interface Tunnel {
  readonly lab: Lab
  readonly to: string
  /** The processes of both ends; none where the kernel alone carries. */
  readonly pids: readonly number[]
  /** Whether the first thread of each runs JavaScript. */
  readonly isNode: boolean
  close(): Promise<void>
}

export type TunnelName = 'wire' | 'wireguardGo' | 'ours' | 'twoQueues' | 'streams' | 'edgevpn'

export const TUNNELS: Readonly<
  Record<TunnelName, { readonly why: () => string | undefined; readonly open: () => Promise<Tunnel> }>
> = {
  wire: { why: () => undefined, open: openWire },
  wireguardGo: { why: whyNoWireguardGo, open: openWireguardGo },
  ours: { why: () => undefined, open: () => openOurs(['--mtu=1420']) },
  twoQueues: { why: () => undefined, open: () => openOurs(['--mtu=1420', '--tun-queues=2']) },
  streams: { why: () => undefined, open: () => openOurs(['--no-udp']) },
  edgevpn: { why: whyNoEdgevpn, open: openEdgevpn },
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
  return { lab, to: WIRE.right, pids: [], isNode: false, close: async () => lab.close() }
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
    await setTimeout(SETTLE_MS)
    return { lab, to: right.v4, pids: [left.pid, right.pid], isNode: true, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function untilOverUdp({ control }: Machine): Promise<void> {
  await eventually(
    async () => {
      const { Peers } = await control.getVpn()
      if (!Peers.every(({ UDP }) => UDP.State === 'direct')) throw new Error('not over UDP')
    },
    { withinMs: SET_UP_MS },
  )
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
    return { lab, to: '10.1.0.2', pids: [left.pid, right.pid], isNode: false, close }
  } catch (error) {
    await close()
    throw error
  }
}

function whyNoWireguardGo(): string | undefined {
  const found = findWireguardGo()
  return 'skipped' in found ? found.skipped : undefined
}

async function openWireguardGo(): Promise<Tunnel> {
  const lab = createWire()
  const children: ChildProcess[] = []
  const close = async () => {
    await Promise.all(children.map(endChild))
    lab.close()
  }
  try {
    const keys = { left: makeWireguardKeys(), right: makeWireguardKeys() }
    for (const [host, other, address] of [
      ['left', 'right', '10.1.0.1'],
      ['right', 'left', '10.1.0.2'],
    ] as const) {
      // the processes share a folder of control sockets across namespaces
      const device = `wg${process.pid}${host}`
      children.push(await startWireguardGo({ lab, host, device, privateKey: keys[host].privateKey }))
      const endpoint = `${WIRE[other]}:${WIREGUARD_PORT}`
      const { publicKey } = keys[other]
      await addWireguardPeers(device, [{ publicKey, endpoint, allowed: '10.1.0.0/24' }])
      lab.run(host, ['ip', 'addr', 'add', `${address}/24`, 'dev', device])
      lab.run(host, ['ip', 'link', 'set', device, 'up'])
    }
    await pingSoon(lab, 'left', '10.1.0.2', SET_UP_MS)
    return { lab, to: '10.1.0.2', pids: children.map(({ pid = 0 }) => pid), isNode: false, close }
  } catch (error) {
    await close()
    throw error
  }
}

interface WireguardGoInit {
  readonly lab: Lab
  readonly host: string
  readonly device: string
  /** Base64. */
  readonly privateKey: string
}

/** Starts wireguard-go in a host, with its key and port, without peers and addresses. */
export async function startWireguardGo(init: WireguardGoInit): Promise<ChildProcess> {
  const { lab, host, device, privateKey } = init
  const found = findWireguardGo()
  if ('skipped' in found) throw new Error(found.skipped)
  const [file, ...words] = lab.inside(host, [found.file, '-f', device])
  const env = {
    ...process.env,
    WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1',
    LOG_LEVEL: 'error',
  }
  const child = spawn(file, words, { stdio: 'ignore', env })
  try {
    await eventually(() => setWireguardKey(device, privateKey, WIREGUARD_PORT), { withinMs: SET_UP_MS })
    return child
  } catch (error) {
    await endChild(child)
    throw error
  }
}

/** Ends a process and waits until it is gone. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill()
  await gone
}
