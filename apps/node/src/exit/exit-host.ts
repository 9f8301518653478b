/**
 * This node's part in an exit, on this machine: as one who uses an exit (`--exit-node`), as one itself
 * (`--advertise-exit`), or none. What is changed in the kernel is written down first and taken back at the end, or when
 * no exit is wanted any more.
 */
import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { Clock, Logger } from '@mesh/core'
import type { IpFamily, Vpn, VpnProblem } from '@mesh/vpn'
import type { Ends } from '../node/ends.ts'
import type { Settings } from '../settings/options.ts'
import {
  findForwardingProblems,
  findRoutingProblems,
  type HostFacts,
  noGuard,
  strictHint,
  strictInterfaces,
} from './exit-checks.ts'
import { applyForwarding, tableName } from './exit-forwarding.ts'
import { machineResolvers } from './machine-resolvers.ts'
import { applyGuard } from './exit-guard.ts'
import { endJournal, endJournals, isAlive, readJournal, restoreExit, writeJournal } from './exit-journal.ts'
import { applyRoutes, applyRules, hasRules } from './exit-routing.ts'
import { CHECK_MS } from './limits.ts'
import { exitError, trySystem } from './system-command.ts'

export interface ExitHost {
  /** The VPN stands: what leaves goes into its interface, or what members have for the Internet goes on from it. */
  attach(vpn: Pick<Vpn, 'interface' | 'subscribe'>, ranges: readonly string[]): void
  problems(): readonly VpnProblem[]
  /**
   * Leads all that leaves this machine into the VPN, or nothing any more (undefined). From one exit to another nothing
   * changes here: at no moment is a packet without a rule.
   * @throws MeshError `exit.*`
   */
  use(exit: string | undefined): void
}

interface ExitHostInit {
  readonly settings: Settings
  readonly stateDir: string
  /** The node makes the interface; others use no exit and are none. */
  readonly hasVpn: boolean
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Takes back what a killed node left, and from here on lets nothing leave past the exit that was asked for. To be called
 * before anything connects.
 * @throws MeshError `exit.*`
 */
export function openExitHost(init: ExitHostInit, ends: Ends): ExitHost {
  const { settings, stateDir, hasVpn, log } = init
  const uses = hasVpn && settings.exitNode !== undefined
  const mark = uses ? settings.fwmark : undefined
  restoreExit(stateDir, log, mark)
  ends.add(() => endJournals(stateDir, log))
  const host = new KernelExitHost(init)
  ends.add(() => host.endWatch())
  if (uses) host.use(settings.exitNode)
  return host
}

/** Which families this machine forwards now. */
export function forwardedFamilies(forwards: (family: IpFamily) => boolean | undefined): readonly IpFamily[] {
  return (['ipv4', 'ipv6'] as const).filter((family) => forwards(family) === true)
}

class KernelExitHost implements ExitHost {
  readonly #init: ExitHostInit
  #found: readonly VpnProblem[] = []
  /** The networks of the guard that stands. */
  #guarded: string | undefined
  /** The exit that is used. */
  #exit: string | undefined
  #vpn: Pick<Vpn, 'interface' | 'subscribe'> | undefined
  #cancelWatch = () => {}

  constructor(init: ExitHostInit) {
    this.#init = init
  }

  attach(vpn: Pick<Vpn, 'interface' | 'subscribe'>, ranges: readonly string[]): void {
    const { settings } = this.#init
    this.#vpn = vpn
    this.#lead()
    // an interface that was taken away and made again has no route
    vpn.subscribe(({ type }) => {
      if (type === 'state' || type === 'problems') this.#lead()
    })
    if (settings.advertiseExit) this.#forward(vpn.interface?.name ?? settings.interface, ranges)
  }

  problems(): readonly VpnProblem[] {
    return this.#found
  }

  use(exit: string | undefined): void {
    const before = this.#exit
    if (exit !== undefined && before === undefined) this.#begin()
    if (exit === undefined && before !== undefined) this.#end()
    this.#exit = exit
    if (before !== exit) this.#init.log.info('exit chosen', { exit, before })
    this.#lead()
  }

  #begin(): void {
    const { settings, stateDir, log } = this.#init
    const { fwmark: mark, exitNodeBlockLan: blockLan } = settings
    if (mark === 0) throw noMark()
    if (settings.advertiseExit || settings.router !== undefined) throw isExit()
    const journal = readJournal(stateDir, 'use', log)
    if (isAlive(journal) || (journal === undefined && hasRules())) throw inUse()
    refuseStrictFilter(this.facts())
    writeJournal(stateDir, 'use', { pid: process.pid, mark })
    this.guard()
    applyRules({ mark, blockLan })
    log.info('exit rules set', { blockLan })
    this.#watch()
  }

  #end(): void {
    this.endWatch()
    this.#found = []
    this.#guarded = undefined
    endJournal(this.#init.stateDir, 'use', this.#init.log)
  }

  facts(): HostFacts {
    const networks = Object.entries(networkInterfaces()).flatMap(([name, entries = []]) =>
      entries.map(({ address }) => ({ interface: name, address })),
    )
    return {
      networks: networks.filter((network) => network.interface !== this.#init.settings.interface),
      rpFilter: readFilter,
      rules: `${trySystem('ip', ['-4', 'rule', 'show']) ?? ''}${trySystem('ip', ['-6', 'rule', 'show']) ?? ''}`,
      ruleset: trySystem('nft', ['list', 'ruleset']) ?? '',
      hasResolved: existsSync('/run/systemd/resolve/stub-resolv.conf'),
    }
  }

  /** Keeps bound sockets from going past the exit, with the networks of now. */
  guard(): readonly VpnProblem[] {
    const { settings } = this.#init
    const [mark, name] = [settings.fwmark, settings.interface]
    const all = Object.entries(networkInterfaces()).filter(([each]) => each !== name && each !== 'lo')
    const networks = settings.exitNodeBlockLan
      ? []
      : all.flatMap(([, entries = []]) => entries.flatMap(({ cidr }) => cidr ?? []))
    if (networks.join() === this.#guarded) return []
    const isSet = applyGuard({ mark, interface: name, networks })
    this.#guarded = isSet ? networks.join() : undefined
    return isSet ? [] : [noGuard()]
  }

  /** Looks now and every half minute at what disturbs the exit: other VPNs come and go. */
  #watch(): void {
    this.#found = [...this.guard(), ...findRoutingProblems(this.facts())]
    this.#cancelWatch = this.#init.clock.after(CHECK_MS, () => this.#watch())
  }

  endWatch(): void {
    this.#cancelWatch()
  }

  /** The default route of the exit's table, once there is an interface. */
  #lead(): void {
    const { settings, log } = this.#init
    if (this.#exit !== undefined && this.#vpn?.interface !== undefined) applyRoutes(settings.interface, log)
  }

  #forward(interfaceName: string, ranges: readonly string[]): void {
    const { stateDir, settings, log } = this.#init
    const resolvers = machineResolvers()
    writeJournal(stateDir, 'offer', { pid: process.pid, table: tableName(interfaceName) })
    applyForwarding({
      interface: interfaceName,
      ranges,
      advertised: settings.advertiseRoute,
      resolvers,
    })
    log.info('exit offered', { interface: interfaceName, resolvers })
    const ruleset = trySystem('nft', ['list', 'ruleset']) ?? ''
    this.#found = findForwardingProblems(ruleset, resolvers.length > 0)
  }
}

function refuseStrictFilter(facts: HostFacts): void {
  const [name] = strictInterfaces(facts)
  if (name === undefined) return
  throw exitError(
    'exit.rp_filter',
    `rp_filter is strict on ${name}: it would drop the answers to this node while an exit node is used`,
    strictHint(name),
  )
}

function noMark() {
  return exitError(
    'exit.no_mark',
    'this node was started without a mark on its own packets, and an exit node would lead those in a circle',
    'Start it with --exit-node PEER, or with --fwmark NUMBER to choose an exit node later.',
  )
}

function isExit() {
  return exitError(
    'exit.is_exit',
    'this node is an exit node itself, or has a router',
    'Start it without --advertise-exit and --router.',
  )
}

function inUse() {
  return exitError(
    'exit.in_use',
    'another mesh node of this machine uses an exit node, or was killed while it did',
    'A machine has one exit node. Stop that node; if it was killed, start it once without --exit-node, with its --state-dir.',
  )
}

function readFilter(name: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/sys/net/ipv4/conf/${name}/rp_filter`, 'utf8'))
  } catch {
    return undefined
  }
}
