/**
 * This machine's part in an exit: it uses one (`--exit-node`), is one (`--advertise-exit`), or neither. It may also route networks behind
 * it (`--advertise-route`). Changes in the kernel are written down first, and undone at the end or when no exit is wanted.
 */
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { Clock, Logger } from '@mesh/core'
import type { ExitFault, IpFamily, Vpn, VpnProblem, VpnStatus } from '@mesh/vpn'
import type { HostFacts } from './checks/exit-checks.ts'
import { endJournal, endJournals, restoreExit } from './kernel/exit-journal.ts'
import { ExitOffer, offeredFamilies } from './exit-offer.ts'
import { ExitUse, type ExitUseSettings } from './exit-use.ts'
import type { ExitSettings } from './exit-settings.ts'
import type { Journals } from './journals.ts'
import { forwards } from './system/forwards.ts'
import { inboundConnections } from './system/inbound-connections.ts'
import { CHECK_MS, MEND_MS, MENDED_TOLD_MS } from './limits.ts'
import { findRouterProblems } from './checks/offer-checks.ts'
import { readRuleset, trySystem } from './system/system-command.ts'

type ExitVpn = Pick<Vpn, 'interface' | 'status' | 'subscribe' | 'announceAgain'>

export interface ExitHostInit {
  readonly settings: ExitUseSettings & Pick<ExitSettings, 'advertiseRoute'>
  readonly journals: Journals
  /** The node makes the interface; others use no exit and are none. */
  readonly hasVpn: boolean
  readonly clock: Clock
  readonly log: Logger
  /** How the machine is set up now; default: what its files and commands say. */
  readonly facts?: () => Omit<HostFacts, 'isResolvedPast' | 'keepsAnswers'>
}

/**
 * Takes back what a killed node left, and from here on lets nothing leave past the exit that was asked for. To be called
 * before anything connects. Nothing is left of it when it throws.
 * @throws MeshError `exit.*`
 */
export function openExitHost(init: ExitHostInit): ExitHost {
  const { settings, journals, hasVpn, log } = init
  const uses = hasVpn && settings.exitNode !== undefined
  restoreExit(journals, log, uses ? settings.fwmark : undefined)
  const host = new ExitHost(init)
  try {
    if (uses) host.use(settings.exitNode)
  } catch (error) {
    host.stop()
    throw error
  }
  return host
}

/** The families that this machine forwards for members now. */
export function forwardedFamilies({ interface: name }: Pick<ExitSettings, 'interface'>): readonly IpFamily[] {
  return offeredFamilies(name, forwards)
}

export class ExitHost {
  readonly #init: ExitHostInit
  readonly #use: ExitUse
  readonly #listeners = new Set<() => void>()
  #offer: ExitOffer | undefined
  /** The exit that is used. */
  #exit: string | undefined
  #vpn: ExitVpn | undefined
  #found: readonly VpnProblem[] = []
  #faults: readonly ExitFault[] = []
  /** When the machine was looked at last, in monotonic ms. */
  #checkedAt = Number.NEGATIVE_INFINITY
  /** The things that other programs took away last, and the time of it, in monotonic ms. */
  #mended: { readonly what: readonly string[]; readonly at: number } | undefined
  /** The families and faults that members were told last, as text. */
  #told = ''
  #cancelWatch: (() => void) | undefined

  constructor(init: ExitHostInit) {
    this.#init = init
    const { settings, journals, log, facts = () => readFacts(settings.interface) } = init
    this.#use = new ExitUse({ settings, journals, facts, log })
  }

  /**
   * Has this machine, where it is an exit, send on what members of the ranges have for the Internet. To be called before
   * members can hear of it: those who knew it before send at once.
   * @throws MeshError `exit.no_nftables`
   */
  offer(ranges: readonly string[]): void {
    const { settings, journals, log } = this.#init
    if (!settings.advertiseExit) return
    const { interface: name } = settings
    const families = () => forwardedFamilies({ interface: name })
    this.#told = families().join()
    this.#offer = new ExitOffer({ settings, journals, interface: name, ranges, families, log })
    this.#offer.begin()
  }

  /** The VPN stands: what leaves goes into its interface. */
  attach(vpn: ExitVpn): void {
    this.#vpn = vpn
    this.#lead()
    // an interface that was taken away and made again has no route
    vpn.subscribe(({ type }) => {
      if (type === 'state' || type === 'problems') this.#lead()
    })
    // what can be told once there is an interface
    this.#checkedAt = Number.NEGATIVE_INFINITY
    this.#watchIfNeeded()
  }

  problems(): readonly VpnProblem[] {
    return this.#found
  }

  /** The faults of this machine as an exit, which members that use it are told. */
  faults(): readonly ExitFault[] {
    return this.#faults
  }

  /** Calls the listener whenever `problems()` has changed; the returned function unsubscribes. */
  watchProblems(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Leads all that leaves this machine into the VPN, or nothing any more (undefined). From one exit to another nothing
   * changes here: at no moment is a packet without a rule.
   * @throws MeshError `exit.*`
   */
  use(exit: string | undefined): void {
    const before = this.#exit
    if (exit !== undefined && before === undefined) this.#use.begin()
    // first, as whoever hears of changed problems asks to lead again
    this.#exit = exit
    if (exit === undefined && before !== undefined) this.#end()
    if (before !== exit) this.#init.log.info('exit chosen', { exit, before })
    this.#lead()
    if (exit !== undefined && before === undefined) this.#watch()
  }

  /** Takes back all that was changed. Idempotent. */
  stop(): void {
    this.#pause()
    endJournals(this.#init.journals)
  }

  #pause(): void {
    this.#cancelWatch?.()
    this.#cancelWatch = undefined
    this.#use.end()
  }

  #end(): void {
    this.#pause()
    this.#mended = undefined
    this.#tell([])
    endJournal(this.#init.journals, 'use')
    this.#checkedAt = Number.NEGATIVE_INFINITY
    this.#watchIfNeeded()
  }

  /** This machine routes networks of its own for members, and is no exit, which is checked for more. */
  get #isRouter(): boolean {
    return (
      this.#vpn !== undefined && this.#offer === undefined && this.#init.settings.advertiseRoute.length > 0
    )
  }

  #watchIfNeeded(): void {
    if (this.#exit !== undefined || this.#offer !== undefined || this.#isRouter) this.#watch()
  }

  /** The default route of the exit's table, once there is an interface. */
  #lead(): void {
    if (this.#exit === undefined || this.#vpn?.interface === undefined) return
    this.#use.lead(ledFamilies(this.#vpn.status()))
  }

  /** Looks now and again at what the kernel has of this, and at what disturbs it: other programs come and go. */
  #watch(): void {
    const { clock } = this.#init
    const now = clock.monotonic()
    this.#cancelWatch?.()
    if (now - this.#checkedAt >= CHECK_MS) this.#check(now)
    this.#cancelWatch = clock.after(MEND_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const watch = this.#cancelWatch
    const uses = this.#exit !== undefined
    const [isUseIntact, isOfferIntact] = await Promise.all([
      !uses || this.#use.isIntact(),
      this.#offer?.isIntact() ?? true,
    ])
    // it was stopped meanwhile, or is looked at anew
    if (this.#cancelWatch !== watch) return
    const what = [
      ...(isUseIntact ? [] : this.#use.mend()),
      ...(isOfferIntact ? [] : (this.#offer?.mend() ?? [])),
    ]
    if (what.length > 0) {
      this.#mended = { what, at: this.#init.clock.monotonic() }
      this.#checkedAt = Number.NEGATIVE_INFINITY
      this.#init.log.info('exit set again', { what })
    }
    this.#watch()
  }

  #check(now: number): void {
    this.#checkedAt = now
    const taken =
      this.#mended !== undefined && now - this.#mended.at < MENDED_TOLD_MS
        ? [takenAway(this.#mended.what)]
        : []
    const offered = this.#offer?.problems() ?? []
    this.#faults = offered.map(({ code }) => code)
    const { advertiseExit, interface: name } = this.#init.settings
    const routed = this.#isRouter ? findRouterProblems({ interface: name, ruleset: readRuleset() }) : []
    this.#tell([...taken, ...(this.#exit === undefined ? [] : this.#use.problems()), ...offered, ...routed])
    const [families, faults] = [forwardedFamilies({ interface: name }), this.#faults]
    const told = [...families, ...faults].join()
    if (!advertiseExit || told === this.#told) return
    this.#told = told
    this.#init.log.info('exit is offered otherwise than before', { families, faults })
    this.#vpn?.announceAgain()
  }

  #tell(found: readonly VpnProblem[]): void {
    if (JSON.stringify(found) === JSON.stringify(this.#found)) return
    this.#found = found
    for (const listener of this.#listeners) listener()
  }
}

/** The families that go into the VPN, where they are dropped while the exit is not reached. */
function ledFamilies({ exit }: Pick<VpnStatus, 'exit'>): readonly IpFamily[] {
  return exit?.state === 'up' && exit.families.length > 0 ? exit.families : ['ipv4', 'ipv6']
}

function takenAway(what: readonly string[]): VpnProblem {
  return {
    code: 'exit.taken_away',
    severity: 'warning',
    title: `Another program took away what the exit needs (${what.join(', ')}); it was set again`,
    hint: 'Look what does so: `nft flush ruleset` of a firewall that is loaded anew; systemd-networkd, which takes `ManageForeignRoutingPolicyRules=no` and `ManageForeignRoutes=no` in networkd.conf.',
  }
}

/** How this machine is set up, by its files and commands. */
export function readFacts(interfaceName: string): Omit<HostFacts, 'isResolvedPast' | 'keepsAnswers'> {
  const networks = Object.entries(networkInterfaces()).flatMap(([name, entries = []]) =>
    entries.map(({ address }) => ({ interface: name, address })),
  )
  return {
    networks: networks.filter((network) => network.interface !== interfaceName),
    rpFilter: readFilter,
    rules: `${trySystem('ip', ['-4', 'rule', 'show']) ?? ''}${trySystem('ip', ['-6', 'rule', 'show']) ?? ''}`,
    ruleset: readRuleset(),
    connections: inboundConnections(),
  }
}

function readFilter(name: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/sys/net/ipv4/conf/${name}/rp_filter`, 'utf8'))
  } catch {
    return undefined
  }
}
