/**
 * Floods of datagrams on the engine's socket, in network namespaces: 1 a victim and a member that talk to each other over
 * UDP, and a guest that comes during the flood, 2 a calm while, 3 the flood, from the switch between them, which overhears
 * what they send and pretends to be 65,536 addresses, 4 what went on meanwhile and what stands afterwards.
 */
import { engineSupport } from '@mesh/engine'
import { bridge, createLab, eventually, findWireTool, type Lab, whyNoNamespaces } from '@mesh/testkit'
import {
  createVpnLab,
  iperf,
  type Machine,
  ping,
  pingSoon,
  runIn,
  serveIperf,
} from '../../apps/node/test/vpn-lab.ts'
import { watchOwnTime } from './health.ts'
import { residentMb } from './resident.ts'
import { type Bounds, type Measured, type Meaningless, SUITE_BOUNDS } from './scenario.ts'
import { pause } from './until-true.ts'

/** A flood of some kinds, as `wire-tool flood` names them. */
export interface DatagramAttack {
  readonly name: string
  readonly who: 'stranger' | 'member'
  readonly does: string
  readonly boundedBy: string
  readonly kinds: string
  /** The least part of the time in which the members' path over UDP has to stand; default: none. */
  readonly leastOverUdp?: number
  readonly legacy: Meaningless
}

/** EdgeVPN sends each packet in a stream of libp2p. */
const legacy: Meaningless = { meaningless: 'no UDP of its own: packets go in streams of libp2p' }

export const DATAGRAM_ATTACKS: readonly DatagramAttack[] = [
  {
    name: 'datagrams',
    who: 'stranger',
    does: 'datagrams without meaning, cut short, overheard and sent again, of sessions that are none, like probes',
    boundedBy: 'DATAGRAMS_PER_SOURCE, DATAGRAMS_PER_SECOND, the replay window',
    kinds: 'random,truncated,replayed,sealed,probes',
    legacy,
  },
  {
    name: 'handshakes',
    who: 'member',
    does: 'beginnings of handshakes from 65,536 addresses, with the right public key and with a wrong one; then a guest comes',
    boundedBy: 'HANDSHAKES_UNDER_LOAD (cookies), HANDSHAKES_PER_SOURCE, SOCKET_HANDSHAKES_PER_SECOND',
    kinds: 'handshakes,bad-handshakes',
    legacy,
  },
  {
    name: 'overheard-probes',
    who: 'stranger',
    does: 'probes of the path between two members, overheard and sent again, and others that name the same pair',
    boundedBy: 'PROBE_COPIES, QUESTIONS_PER_SECOND, the code of each probe',
    kinds: 'replayed-probes,named-probes',
    leastOverUdp: 0.9,
    legacy,
  },
]

export interface DatagramRun {
  readonly seconds: number
  /** The most datagrams a second; unless given as many as the kernel takes. */
  readonly rate?: number
  readonly bounds: Bounds
}

/** As the suite's, but for health: the flood itself and what carries it take both processors of a small machine. */
export const FLOOD_BOUNDS: Bounds = SUITE_BOUNDS
/** Where the flood seems to come from. */
const SOURCES = '10.66.0.0/16'
const SWITCH_ADDRESS = '192.168.96.254'
const JOIN_MS = 60_000
const CALM_MS = 2_000
const LOOK_EVERY_MS = 100
/** How many of the pings during the flood have to be answered: both processors are busy with the flood itself. */
const LEAST_ANSWERED = 0.2
/** How long a guest may take to get its session after the flood's end, in ms. */
const GUEST_MS = 10_000

/** Undefined when this machine can make these attacks, else the reason why not. */
export function whyNoDatagramAttacks(): string | undefined {
  const support = engineSupport()
  const tool = findWireTool()
  return (
    whyNoNamespaces(['ip', 'ping', 'iperf3']) ??
    (support.supported ? undefined : support.message) ??
    ('skipped' in tool ? tool.skipped : undefined)
  )
}

/** Runs one attack on machines of its own. */
export async function runDatagramAttack(attack: DatagramAttack, run: DatagramRun): Promise<Measured> {
  const hosts = ['a', 'b', 'guest']
  const lab = createLab(['switch', ...hosts])
  const vpn = createVpnLab(lab)
  try {
    bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.96.${at + 1}/24`]])))
    lab.run('switch', ['ip', 'addr', 'add', `${SWITCH_ADDRESS}/24`, 'dev', 'br0'])
    lab.run('switch', ['ip', 'route', 'add', 'local', SOURCES, 'dev', 'lo'])
    lab.run('a', ['ip', 'route', 'add', SOURCES, 'via', SWITCH_ADDRESS])
    const [a, b] = await Promise.all(
      ['a', 'b'].map((host, at) => vpn.start(host, [`--address=10.1.0.${at + 1}/24`])),
    )
    if (a === undefined || b === undefined) throw new Error('no machines')
    await pingSoon(lab, 'b', a.v4, JOIN_MS)
    await untilOverUdp(b)
    return judge(attack, run, await flood({ lab, a, b, attack, run }))
  } finally {
    await vpn.close()
  }
}

async function untilOverUdp({ control }: Machine): Promise<void> {
  await eventually(
    async () => {
      const { Peers } = await control.getVpn()
      if (!Peers.every(({ UDP }) => UDP.State === 'direct')) throw new Error('not over UDP')
    },
    { withinMs: JOIN_MS },
  )
}

interface Flooding {
  readonly lab: Lab
  readonly a: Machine
  readonly b: Machine
  readonly attack: DatagramAttack
  readonly run: DatagramRun
}

/** What went on during the flood, and stood afterwards. */
interface Seen {
  readonly calmMs: number
  readonly healthMs: number
  /** The same without what the victim and the one that asks waited for a processor. */
  readonly ownHealthMs: number
  readonly grownMb: number
  readonly sent: number
  readonly perSecond: number
  readonly pings: { readonly sent: number; readonly answered: number; readonly longestMs: number }
  /** The part of the looks at the member's path to the victim that found one over UDP. */
  readonly overUdp: number
  /** Megabits a second of the connection that lasted through the flood; 0: it was lost. */
  readonly mbps: number
  readonly guestCame: boolean
  readonly isAlive: boolean
}

async function flood({ lab, a, b, attack, run }: Flooding): Promise<Seen> {
  const { seconds } = run
  const guest = await a.control.createGuest({ body: { Name: 'newcomer' } })
  const valueOf = (field: string) => new RegExp(`^${field} = (.*)$`, 'm').exec(guest.Configuration)?.[1] ?? ''
  const [endpoint, key] = [valueOf('Endpoint'), hexOf(valueOf('PublicKey'))]
  const calm = watch(a)
  await pause(CALM_MS)
  const calmMs = (await calm.finish()).healthMs
  const stop = await serveIperf(lab, 'a')
  try {
    const [watching, path] = [watch(a), watchPath(b)]
    const load = iperf(lab, 'b', a.v4, ['-t', String(seconds + 3), '-b', '20M'])
    const rated = run.rate === undefined ? [] : ['--rate', String(run.rate)]
    const words = ['flood', endpoint, String(seconds), attack.kinds, '--sources', SOURCES, '--key', key]
    const flooding = runIn(lab, 'switch', [toolFile(), ...words, ...rated], seconds * 1_000 + 60_000)
    const member = `${hexOf(valueOf('PrivateKey'))} ${hexOf(valueOf('PresharedKey'))} ${guest.Address}`
    const coming = newcomer({ lab, member, words: ['peers', endpoint, key, a.v4], seconds: seconds + 3 })
    const [pings, said, guestCame, mbps] = await Promise.all([
      pingDuring(lab, a.v4, seconds + 2),
      flooding,
      coming,
      load.then(({ bitsPerSecond }) => bitsPerSecond / 1e6).catch(() => 0),
    ])
    const health = await watching.finish()
    const overUdp = await path.finish()
    const { sent, perSecond } = JSON.parse(said) as { readonly sent: number; readonly perSecond: number }
    const isAlive = await ping(lab, 'b', a.v4, { count: 5, withinS: 20 }).then(
      () => true,
      () => false,
    )
    return { calmMs, ...health, sent, perSecond, pings, overUdp, mbps, guestCame, isAlive }
  } finally {
    await stop()
  }
}

interface Newcomer {
  readonly lab: Lab
  /** Its private key, preshared key and address. */
  readonly member: string
  readonly words: readonly string[]
  readonly seconds: number
}

/** Whether a guest that comes now gets a session and an answer through it. */
async function newcomer({ lab, member, words, seconds }: Newcomer): Promise<boolean> {
  const argv = [toolFile(), ...words, String(seconds)]
  const line = `printf %s '${member}' | ${argv.join(' ')}`
  const said = await runIn(lab, 'guest', ['sh', '-c', line], seconds * 1_000 + GUEST_MS)
  const { answered } = JSON.parse(said.trim().split('\n').at(-1) ?? '{}') as { readonly answered?: number }
  return (answered ?? 0) > 0
}

async function pingDuring(lab: Lab, to: string, seconds: number): Promise<Seen['pings']> {
  const argv = ['ping', '-n', '-q', '-i', '0.05', '-w', String(seconds), to]
  const out = await runIn(lab, 'b', argv, seconds * 1_000 + 10_000).catch((error: unknown) => String(error))
  const [, sent, answered] = /(\d+) packets transmitted, (\d+) received/.exec(out) ?? []
  const longest = /= [\d.]+\/[\d.]+\/([\d.]+)\//.exec(out)?.[1]
  return { sent: Number(sent ?? 0), answered: Number(answered ?? 0), longestMs: Number(longest ?? 0) }
}

/** Looks at the member's path to the victim until it is finished: the part of the looks that found one over UDP. */
function watchPath({ control }: Machine) {
  let isOver = false
  const watching = (async () => {
    let [looks, found] = [0, 0]
    for (; !isOver; looks++) {
      const { Peers } = await control.getVpn()
      if (Peers.some(({ UDP }) => UDP.State !== 'none')) found++
      await pause(LOOK_EVERY_MS)
    }
    return found / looks
  })()
  return {
    finish() {
      isOver = true
      return watching
    },
  }
}

/** Looks at the victim's health and memory until it is finished. */
function watch({ pid, control }: Machine) {
  const before = residentMb(pid)
  let isOver = false
  const watching = (async () => {
    const worst = { healthMs: 0, ownHealthMs: 0, grownMb: 0 }
    while (!isOver) {
      const [began, own] = [performance.now(), watchOwnTime(pid)]
      const isWell = await control.getHealth().then(
        () => true,
        () => false,
      )
      const tookMs = isWell ? performance.now() - began : Number.POSITIVE_INFINITY
      worst.healthMs = Math.max(worst.healthMs, tookMs)
      worst.ownHealthMs = Math.max(worst.ownHealthMs, isWell ? own(tookMs) : tookMs)
      worst.grownMb = Math.max(worst.grownMb, residentMb(pid) - before)
      await pause(LOOK_EVERY_MS)
    }
    return worst
  })()
  return {
    finish() {
      isOver = true
      return watching
    },
  }
}

function judge(attack: DatagramAttack, { bounds }: DatagramRun, seen: Seen): Measured {
  const { calmMs, healthMs, ownHealthMs, grownMb, sent, perSecond, pings, overUdp, mbps, guestCame } = seen
  const outcome = [
    `${sent} datagrams, ${perSecond} a second`,
    `${pings.answered} of ${pings.sent} pings`,
    `${Math.round(overUdp * 100)} % of the time over UDP`,
    `iperf3 ${mbps.toFixed(1)} Mbit/s`,
    guestCame ? 'the guest came in' : 'the guest did not come in',
  ].join('; ')
  return {
    name: attack.name,
    who: attack.who,
    calmMs,
    healthMs,
    ownHealthMs,
    grownMb,
    writes: pings.sent,
    arrived: pings.answered,
    writeMs: pings.longestMs,
    carried: sent > 0 ? 'carried out' : 'never ran',
    outcome,
    broke: brokenBound(attack, seen, {
      ...bounds,
      healthMs: Math.max(bounds.healthMs, calmMs + bounds.healthMs),
    }),
  }
}

function brokenBound({ leastOverUdp = 0 }: DatagramAttack, seen: Seen, bounds: Bounds): string | undefined {
  const { ownHealthMs, grownMb, pings, overUdp, mbps, guestCame, isAlive } = seen
  if (!isAlive) return 'the session ended'
  if (mbps === 0) return 'a connection was lost'
  if (pings.answered < pings.sent * LEAST_ANSWERED)
    return `${pings.answered} of ${pings.sent} pings came back`
  if (overUdp < leastOverUdp) return `over UDP ${Math.round(overUdp * 100)} % of the time`
  if (!guestCame) return 'a guest did not get in'
  if (ownHealthMs > bounds.healthMs) return `health took ${Math.round(ownHealthMs)} ms of the node's own`
  if (grownMb > bounds.grownMb) return `grew by ${Math.round(grownMb)} MB`
  return undefined
}

function toolFile(): string {
  const tool = findWireTool()
  if ('skipped' in tool) throw new Error(tool.skipped)
  return tool.file
}

function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex')
}
