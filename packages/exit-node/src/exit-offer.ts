/** This machine as an exit of members: an nftables table, looked at and set again when another program took it away. */
import { networkInterfaces } from 'node:os'
import type { Logger } from '@mesh/core'
import type { IpFamily } from '@mesh/vpn'
import type { ExitSettings } from './exit-settings.ts'
import type { Journals } from './journals.ts'
import { applyForwarding, tableName } from './kernel/exit-forwarding.ts'
import { hasTable } from './system/nft-table.ts'
import { writeJournal } from './kernel/exit-journal.ts'
import { machineResolvers } from './system/machine-resolvers.ts'
import { findOfferProblems, type OfferProblem } from './checks/offer-checks.ts'
import { readRuleset, trySystem } from './system/system-command.ts'

interface ExitOfferInit {
  readonly settings: Pick<ExitSettings, 'advertiseRoute'>
  readonly journals: Journals
  /** The interface of the VPN. */
  readonly interface: string
  /** The ranges in which members have their addresses. */
  readonly ranges: readonly string[]
  /** The families that members are told of. */
  readonly families: () => readonly IpFamily[]
  readonly log: Logger
}

export class ExitOffer {
  readonly #init: ExitOfferInit
  /** The DNS servers in the table that stands. */
  #resolvers: readonly string[] = []

  constructor(init: ExitOfferInit) {
    this.#init = init
  }

  /** @throws MeshError `exit.no_nftables` */
  begin(): void {
    const { journals, interface: name, log } = this.#init
    writeJournal(journals, 'offer', { ...journals.thisProcess(), table: tableName(name) })
    this.#apply()
    log.info('exit offered', { interface: name, resolvers: this.#resolvers })
  }

  /** True when the table is there. */
  isIntact(): Promise<boolean> {
    return hasTable(tableName(this.#init.interface))
  }

  /** Sets the table again. @returns what was set */
  mend(): readonly string[] {
    this.#applyOrTell()
    return ['nftables table']
  }

  /** Looks at the machine, whose DNS servers come and go. */
  problems(): readonly OfferProblem[] {
    const { interface: name, families } = this.#init
    if (machineResolvers().join() !== this.#resolvers.join()) this.#applyOrTell()
    return findOfferProblems({
      interface: name,
      ruleset: readRuleset(),
      hasResolver: this.#resolvers.length > 0,
      wayless: families().filter((family) => !hasWay(family)),
    })
  }

  #applyOrTell(): void {
    try {
      this.#apply()
    } catch (error) {
      this.#init.log.warn('exit is not offered any more', { error })
    }
  }

  #apply(): void {
    const { interface: name, ranges, settings } = this.#init
    this.#resolvers = machineResolvers()
    applyForwarding({
      interface: name,
      ranges,
      advertised: settings.advertiseRoute,
      resolvers: this.#resolvers,
    })
  }
}

/** Addresses of the Internet, which nothing is sent to. */
const ELSEWHERE = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const

/** True when the kernel has a route to the Internet. */
export function hasWay(family: IpFamily): boolean {
  const flag = family === 'ipv4' ? '-4' : '-6'
  return trySystem('ip', [flag, 'route', 'get', ELSEWHERE[family]]) !== undefined
}

/**
 * The families that this machine forwards now: the kernel does so, and an interface other than the VPN's has an address
 * that others answer to.
 */
export function offeredFamilies(
  interfaceName: string,
  forwards: (family: IpFamily) => boolean | undefined,
): readonly IpFamily[] {
  const entries = Object.entries(networkInterfaces()).flatMap(([name, all = []]) =>
    name === interfaceName ? [] : all,
  )
  return (['ipv4', 'ipv6'] as const).filter(
    (family) =>
      forwards(family) === true &&
      entries.some(
        (entry) => entry.family.toLowerCase() === family && !entry.internal && !isLinkLocal(entry.address),
      ),
  )
}

function isLinkLocal(address: string): boolean {
  return /^(169\.254\.|fe[89ab])/i.test(address)
}
