/**
 * Has this machine ask its private network's DNS (`--dns-configure`), without depending on it. systemd-resolved gets only the zone, while
 * the interface stands. Without it /etc/resolv.conf names this node before the earlier servers, which answer when this node
 * does not. The node repeats what other programs undo, and restores everything at the end.
 */
import { formatPlace } from '../words/format-place.ts'
import type { HealthProblem } from '@mesh/api-server'
import type { Clock, Logger, Random } from '@mesh/core'
import type { BoundAddress, DnsStatus } from '@mesh/dns'
import { asksForAll } from '@mesh/exit-node'
import type { CleanUps } from '../clean-ups.ts'
import type { Settings } from '../settings/options.ts'
import { keepResolver, notConfigured, type ResolverWay } from './keep-resolver.ts'
import { ResolvConfWay } from './resolv-conf-way.ts'
import { hasResolved, ResolvedWay } from './resolved-way.ts'
import { restoreResolver } from './restore-resolver.ts'

const DNS_PORT = 53

export interface ConfigureResolverInit {
  readonly settings: Settings
  readonly stateDir: string
  readonly hasVpn: boolean
  /** This node's DNS server. */
  readonly dns: {
    status(): DnsStatus | undefined
    setProblem(problem: HealthProblem | undefined): void
  }
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Where it cannot be done, health says why, and the machine's names work as before. */
export async function configureResolver(init: ConfigureResolverInit, cleanUps: CleanUps): Promise<void> {
  const { clock, random, dns } = init
  const log = init.log.child('dns')
  const setProblem = (problem: Parameters<typeof dns.setProblem>[0]) => dns.setProblem(problem)
  const way = await chooseWay(init, cleanUps)
  if (typeof way === 'string') {
    const problem = notConfigured(way)
    setProblem(problem)
    return log.warn(problem.title, { hint: problem.hint })
  }
  cleanUps.add(await keepResolver(way, { clock, random, log, setProblem }))
}

/** Gives why there is none, where that is so. */
async function chooseWay(init: ConfigureResolverInit, cleanUps: CleanUps): Promise<ResolverWay | string> {
  const { stateDir, hasVpn, settings, log, clock, dns } = init
  const status = dns.status()
  const place = status?.listening[0]
  if (status === undefined || place === undefined) return 'no address of --dns could be had'
  if (await hasResolved()) {
    if (!hasVpn) return 'systemd-resolved takes DNS servers by interface, and this node makes none'
    // the servers of other interfaces are asked past an exit node: this one is asked for all then, and forwards
    const isForAll = asksForAll(settings)
    const server = reachable(place)
    const way = new ResolvedWay({ link: settings.interface, server, zones: status.zones, isForAll, clock })
    cleanUps.add(() => way.revert())
    return way
  }
  if (place.port !== DNS_PORT) return '/etc/resolv.conf knows port 53 alone'
  cleanUps.add(() => restoreResolver(stateDir, log, { own: true }))
  return new ResolvConfWay(stateDir, hostOf(place))
}

function reachable(place: BoundAddress): string {
  const host = hostOf(place)
  return place.port === DNS_PORT ? host : formatPlace(host, place.port)
}

/** A server that listens everywhere is found on loopback. */
function hostOf({ host }: BoundAddress): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
}
