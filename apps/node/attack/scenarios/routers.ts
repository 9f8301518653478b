/** Attacks from the local network: what answers there who searches for a router that speaks UPnP. */
import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { createInterface } from 'node:readline'
import { atNeighbour, NEIGHBOUR_ADDRESSES } from '../namespace.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'

/** The port on which the victim's own machine, and a third one, have a service that the answers name. */
const NAMED_PORT = 5_001
/** More connections than a node that asks few routers makes in a minute. */
const MAX_CONNECTIONS = 200

/** What the victim's machine was asked for by the wish of its neighbour. */
const asked = new WeakMap<Attack, string[]>()

/** A service of the victim's machine, on loopback and on the local network. */
async function openNamed(attack: Attack): Promise<Server> {
  const paths: string[] = []
  asked.set(attack, paths)
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(NAMED_PORT, '0.0.0.0', resolve))
  return server
}

/** Runs the hostile router at the neighbour until the attack is over, and counts what it says to have done. */
async function runRouter(attack: Attack, kind: string, addresses: readonly string[]): Promise<void> {
  const { signal, tally } = attack
  const server = await openNamed(attack)
  const program = `${import.meta.dirname}/../hostile-router.ts`
  const [file, ...words] = atNeighbour([process.execPath, program, kind, ...addresses])
  const router = spawn(file, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: router.stdout }).on('line', (line) => {
    for (const [what, times] of Object.entries(JSON.parse(line) as Record<string, number>))
      tally.count(what, times - tally.of(what))
  })
  while (!signal.aborted && router.exitCode === null) await pause(200, signal)
  router.kill()
  server.closeAllConnections()
  server.close()
}

const BASE = {
  who: 'stranger',
  appliesToLegacy: false,
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
    run: (attack) => runRouter(attack, 'odd', NEIGHBOUR_ADDRESSES.slice(0, 1)),
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
    run: (attack) => runRouter(attack, 'all', NEIGHBOUR_ADDRESSES),
    async reached(attack) {
      const [path] = asked.get(attack) ?? []
      if (path !== undefined) return `its own machine was asked: ${path}`
      if (attack.tally.of('asked for third') > 0) return 'a third machine was asked'
      const connections = attack.tally.of('connections')
      return connections > MAX_CONNECTIONS ? `it connected ${connections} times` : undefined
    },
  },
]
