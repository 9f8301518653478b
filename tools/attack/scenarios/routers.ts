/** Attacks from the local network: what answers there who searches for a router by UPnP, or for members by mDNS. */
import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:net'
import { createInterface } from 'node:readline'
import { atNeighbour, LOCAL_ADDRESS, NEIGHBOUR_ADDRESSES } from '../namespace.ts'
import { startProbe } from '../probe.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'

/** The port on which the victim's own machine, and a third one, have a service that the answers name. */
const NAMED_PORT = 5_001
/** More connections than a node that asks few routers makes in a minute. */
const MAX_CONNECTIONS = 200
/** A legacy node that searches for a router, and how long what calls itself one may take to begin, in ms. */
const LEGACY_ARGS = ['--natmap', '--listen-maddrs=/ip4/0.0.0.0/tcp/0']
const ROUTER_STARTS_MS = 1_500

/** What the victim's machine was asked for by the wish of its neighbour. */
const asked = new WeakMap<Attack, string[]>()

/** A service of the victim's machine, on loopback and on the local network. */
async function openNamed(attack: Attack): Promise<Server> {
  const paths: string[] = []
  asked.set(attack, paths)
  const server = createServer((socket) => {
    paths.push(`${socket.localAddress}`)
    socket.on('error', () => {})
    socket.end()
  })
  await new Promise<void>((resolve) => server.listen(NAMED_PORT, '0.0.0.0', resolve))
  return server
}

/** Runs a program at the neighbour until the attack is over, and counts what it says to have done. */
async function runAtNeighbour(attack: Attack, program: string, args: readonly string[]): Promise<void> {
  const { signal, tally } = attack
  const server = await openNamed(attack)
  const path = `${import.meta.dirname}/../${program}`
  const [file, ...words] = atNeighbour([process.execPath, '--conditions=mesh-source', path, ...args])
  const router = spawn(file, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: router.stdout }).on('line', (line) => {
    for (const [what, times] of Object.entries(JSON.parse(line) as Record<string, number>))
      tally.count(what, times - tally.of(what))
  })
  while (!signal.aborted && router.exitCode === null) await pause(200, signal)
  router.kill()
  server.close()
}

/** A legacy node searches for a router once, as it starts: so another one comes that finds the attack going on. */
async function watchNewcomer({ target, join, signal, tally }: Attack): Promise<void> {
  if (target.kind === 'mesh' || join === undefined) return
  await pause(ROUTER_STARTS_MS, signal)
  const { pid, healthUrl, url } = await join(LEGACY_ARGS)
  const probe = startProbe({ pid, healthUrl, victimUrl: url })
  while (!signal.aborted) await pause(100, signal)
  const { grownMb, healthMs, ownHealthMs } = await probe.finish()
  tally.count('MB that a newcomer grew by', grownMb)
  tally.count("ms of a newcomer's health", healthMs)
  tally.count('ms of these its own', ownHealthMs)
}

/** Has the neighbour be a router until the attack is over. */
async function runRouter(attack: Attack, args: readonly string[]): Promise<void> {
  await Promise.all([runAtNeighbour(attack, 'hostile-router.ts', args), watchNewcomer(attack)])
}

/** Tells whether the victim connected to a service of its own machine because somebody else named it. */
function ownAsked(attack: Attack): string | undefined {
  const [at] = asked.get(attack) ?? []
  return at === undefined ? undefined : `it connected to its own machine at ${at}`
}

const BASE = {
  who: 'stranger',
  legacy: { flags: LEGACY_ARGS },
  isApart: true,
  hasNeighbour: true,
  // a network on one machine is private, and its router is not asked
  victimArgs: ['--private=false', '--listen-maddrs=/ip4/0.0.0.0/tcp/0'],
} as const

export const ROUTER_ATTACKS: readonly Scenario[] = [
  {
    ...BASE,
    name: 'ssdp-datagrams',
    does: 'a machine on the local network answers searches for routers by UPnP with what is no answer, and sends as much to all who listen',
    boundedBy:
      'what is no answer from the address that it names is not read on; MAX_SSDP_BYTES, MAX_SSDP_ANSWERS_PER_SECOND',
    aim: 'odd datagrams',
    run: (attack) => runRouter(attack, ['odd', ...NEIGHBOUR_ADDRESSES.slice(0, 1)]),
  },
  {
    ...BASE,
    name: 'false-routers',
    does:
      'five addresses on the local network answer each search 10,000 times, with endless, slow, deep and huge descriptions, 200,000 services, ' +
      'entities, redirections, and with addresses of others and of the machine itself; what calls itself a router answers so, too',
    boundedBy:
      'only who names its own address on a link of this machine is asked; MAX_UPNP_ROUTERS, UPNP_DESCRIPTIONS, UPNP_ASKS, MAX_UPNP_ANSWER_BYTES, UPNP_ANSWER_MS',
    aim: 'connections',
    run: (attack) => runRouter(attack, ['all', ...NEIGHBOUR_ADDRESSES]),
    async reached(attack) {
      const own = ownAsked(attack)
      if (own !== undefined) return own
      if (attack.tally.of('asked for third') > 0) return 'a third machine was asked'
      const connections = attack.tally.of('connections')
      return connections > MAX_CONNECTIONS ? `it connected ${connections} times` : undefined
    },
  },
  {
    ...BASE,
    name: 'mdns-answers',
    legacy: { flags: ['--mdns', '--listen-maddrs=/ip4/0.0.0.0/tcp/0'] },
    does:
      'a machine on the local network answers 400 times a second by mDNS: 12,000 peers that there are not, at addresses of others, of the machine ' +
      'itself and at names, and records that nobody needs',
    boundedBy:
      'only addresses of the link, and of this machine none; MDNS_PACKETS, the loop budget, MDNS_FINDS, MAX_VAIN_DIALS_PER_MINUTE',
    aim: 'peers told of',
    victimArgs: ['--mdns', '--listen-maddrs=/ip4/0.0.0.0/tcp/0'],
    run: (attack) =>
      runAtNeighbour(attack, 'hostile-neighbour.ts', [
        NEIGHBOUR_ADDRESSES[1] ?? '',
        LOCAL_ADDRESS,
        attack.target.kind,
      ]),
    reached: async (attack) => ownAsked(attack),
  },
]
