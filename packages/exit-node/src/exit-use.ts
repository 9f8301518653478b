/**
 * This machine as one that uses an exit.
 *
 * 1. Writes down what it changes.
 * 2. Keeps bound sockets in with an nftables table.
 * 3. Leads everything into the VPN by rules.
 * 4. Sets the route and systemd-resolved when there is an interface.
 *
 * Other programs remove such settings, so the node checks them and sets them again.
 */
import { networkInterfaces } from 'node:os'
import { type Logger, toError } from '@mesh/core'
import type { IpFamily, VpnProblem } from '@mesh/vpn'
import type { ExitSettings } from './exit-settings.ts'
import type { Journals } from './journals.ts'
import {
  findRoutingProblems,
  type HostFacts,
  noGuard,
  strictHint,
  strictInterfaces,
} from './checks/exit-checks.ts'
import { applyGuard, GUARD_TABLE, type GuardOutcome } from './kernel/exit-guard.ts'
import { endJournal, isAlive, readJournal, writeJournal } from './kernel/exit-journal.ts'
import { ExitResolver, type ExitResolverSettings } from './exit-resolver.ts'
import {
  applyRoutes,
  applyRules,
  hasAllRules,
  hasRoutes,
  hasRules,
  mainRoutes,
} from './kernel/exit-routing.ts'
import { inboundConnections } from './system/inbound-connections.ts'
import { hasTable } from './system/nft-table.ts'
import { exitError, trySystem } from './system/system-command.ts'

export type ExitUseSettings = ExitResolverSettings &
  Pick<ExitSettings, 'fwmark' | 'exitNodeBlockLan' | 'advertiseExit' | 'router'>

interface ExitUseInit {
  readonly settings: ExitUseSettings
  readonly journals: Journals
  /** How the machine is set up now. */
  readonly facts: () => Omit<HostFacts, 'isResolvedPast' | 'keepsAnswers'>
  readonly log: Logger
}

/** A refusal that a person has to change: `Error: IPv6 is disabled on nexthop device.` */
const LASTING = /is disabled/

export class ExitUse {
  readonly #init: ExitUseInit
  readonly #resolver: ExitResolver
  /** The networks of the guard that stands. */
  #guarded: string | undefined
  #outcome: GuardOutcome = 'none'
  /** The networks of interfaces when the guard was looked at last. */
  #near = ''
  /** The families that are led into the interface; undefined: there is none. */
  #led: readonly IpFamily[] | undefined
  /** The last refusal of the kernel, which is told once; '': there is none. */
  #refused = ''

  constructor(init: ExitUseInit) {
    this.#init = init
    const { settings, log } = init
    this.#resolver = new ExitResolver({ settings, log })
  }

  /**
   * Lets nothing leave past the exit from here on. Nothing of it is left when it throws.
   * @throws MeshError `exit.*`
   */
  begin(): void {
    const { settings, journals, facts, log } = this.#init
    const { fwmark: mark, exitNodeBlockLan: blockLan } = settings
    if (mark === 0) throw noMark()
    if (settings.advertiseExit || settings.router !== undefined) throw isExit()
    const journal = readJournal(journals, 'use')
    if (isAlive(journals, journal) || (journal === undefined && hasRules())) throw inUse()
    refuseStrictFilter(facts())
    writeJournal(journals, 'use', { ...journals.thisProcess(), mark })
    try {
      this.#guard()
      applyRules({ mark, blockLan })
    } catch (error) {
      endJournal(journals, 'use')
      throw error
    }
    log.info('exit rules set', { blockLan })
  }

  /** Leads these families into the interface, which is there from here on, or is another one. */
  lead(families: readonly IpFamily[]): void {
    this.#led = families
    this.#tell(applyRoutes(this.#init.settings.interface, families).refused)
    this.#resolver.lead()
  }

  /** True when nothing is missing of what was set. It holds nothing up. */
  async isIntact(): Promise<boolean> {
    const { fwmark: mark, exitNodeBlockLan: blockLan, interface: name } = this.#init.settings
    if (nearNetworks(name).join() !== this.#near) return false
    const looks = await Promise.all([
      this.#guarded === undefined || hasTable(GUARD_TABLE),
      hasAllRules({ mark, blockLan }),
      // what the kernel refuses for good is tried again with each look at problems
      this.#led === undefined || LASTING.test(this.#refused) || hasRoutes(name, this.#led),
    ])
    return !looks.includes(false)
  }

  /** Sets again what another program took away. @returns its names */
  mend(): readonly string[] {
    const { settings } = this.#init
    const { fwmark: mark, exitNodeBlockLan: blockLan } = settings
    const mended: string[] = []
    if (
      this.#guarded !== undefined &&
      trySystem('nft', ['list', 'table', 'inet', GUARD_TABLE]) === undefined
    ) {
      this.#guarded = undefined
      if (this.#guard()) mended.push('nftables table')
    } else this.#guard()
    try {
      if (applyRules({ mark, blockLan })) mended.push('routing rules')
    } catch (error) {
      this.#tell(error)
    }
    if (this.#led !== undefined) {
      const { changed, refused } = applyRoutes(settings.interface, this.#led)
      if (changed) mended.push('route')
      this.#tell(refused)
    }
    return mended
  }

  /** Looks at the machine: networks come and go, and so do other VPNs. */
  problems(): readonly VpnProblem[] {
    const isGuarded = this.#guard()
    if (this.#led !== undefined) this.lead(this.#led)
    const facts = {
      ...this.#init.facts(),
      isResolvedPast: this.#resolver.isPast,
      keepsAnswers: this.#outcome === 'all',
    }
    return [...(isGuarded ? [] : [noGuard()]), ...findRoutingProblems(facts)]
  }

  /** Takes back what is no matter of the kernel; the journal has the rest. */
  end(): void {
    this.#resolver.revert()
    this.#guarded = undefined
    this.#led = undefined
  }

  /** Keeps bound sockets from going past the exit, with the networks of now. False: for want of nftables it does not. */
  #guard(): boolean {
    const { settings } = this.#init
    const [mark, name] = [settings.fwmark, settings.interface]
    const near = nearNetworks(name)
    this.#near = near.join()
    const networks = settings.exitNodeBlockLan ? [] : [...new Set([...near, ...mainRoutes(name)])]
    if (networks.join() === this.#guarded) return true
    const answered = settings.exitNodeBlockLan ? [] : near.flatMap(answeredAddress)
    const begun = answered.length === 0 ? [] : inboundConnections()
    this.#outcome = applyGuard({ mark, interface: name, networks, answered, begun })
    const isSet = this.#outcome !== 'none'
    this.#guarded = isSet ? networks.join() : undefined
    return isSet
  }

  #tell(error: unknown): void {
    const text = error === undefined ? '' : toError(error).message
    if (text !== '' && text !== this.#refused)
      this.#init.log.warn('way into the VPN is not set, and packets are dropped', { error })
    this.#refused = text
  }
}

/** The networks of the interfaces outside of the VPN, `192.168.1.5/24`. */
function nearNetworks(interfaceName: string): readonly string[] {
  return Object.entries(networkInterfaces())
    .filter(([name]) => name !== interfaceName && name !== 'lo')
    .flatMap(([, entries = []]) => entries.flatMap(({ cidr }) => cidr ?? []))
}

/** The address of `192.168.1.5/24`; none of a link, which stays on it. */
function answeredAddress(network: string): string[] {
  const [address = ''] = network.split('/')
  return /^fe[89ab]/i.test(address) ? [] : [address]
}

function refuseStrictFilter(facts: Pick<HostFacts, 'networks' | 'rpFilter'>): void {
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
