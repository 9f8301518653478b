/**
 * The rules by which others may begin flows to this node: given to the engine with each table, and what it refused, told
 * once a second at most.
 *
 * The kernel's WireGuard has no filter. A node with rules does not start there; where the first rules come later, it drops
 * all tunnels until it is restarted.
 */
import type { EngineTable, PacketRules, Refusal } from '@mesh/engine'
import { vpnError, type VpnErrorCode } from '../errors.ts'
import type { MeshError } from '@mesh/core'
import { REFUSALS_MS } from './limits.ts'
import type { RulesStatus } from './rules-status.ts'
import { RefusalLog } from './refusal-log.ts'
import type { VpnComponents, VpnInit, VpnProblem } from '../vpn.ts'

/** The part of the engine that rules need. */
interface RuledEngine {
  takeRefusals(): readonly Refusal[]
  ruleHits(): readonly (readonly number[])[]
}

interface OwnRulesInit extends Pick<VpnInit, 'rules' | 'wireguard'> {
  /** The engine in use; undefined: none is open. */
  readonly engine: () => RuledEngine | undefined
  /** Called when there are other rules: the engine needs its table anew. */
  readonly onChange: () => void
  readonly onRefusals: (refusals: readonly Refusal[]) => void
}

const HINT = 'Restart the node without --wireguard kernel.'

export class OwnRules {
  readonly #init: OwnRulesInit
  readonly #clock: VpnComponents['clock']
  readonly #log = new RefusalLog()
  #rules: PacketRules | undefined
  /** Why the engine did not take the rules. */
  #error: Error | undefined
  #cancel: (() => void) | undefined
  #runs = false

  constructor(init: OwnRulesInit, { clock }: Pick<VpnComponents, 'clock'>) {
    this.#init = init
    this.#clock = clock
    this.#rules = init.rules
  }

  /** @throws MeshError `vpn.rules_need_engine` */
  check(): void {
    if (this.#rules !== undefined && this.#init.wireguard === 'kernel') throw rulesNeedEngine()
  }

  set(rules: PacketRules | undefined): void {
    if (rules === this.#rules) return
    this.#rules = rules
    this.#init.onChange()
    this.#poll()
  }

  /** Tells of refusals until the returned function is called. */
  begin(): () => void {
    this.#runs = true
    this.#poll()
    return () => {
      this.#runs = false
      this.#cancel?.()
    }
  }

  /** Gives the engine the table with the rules. Where that cannot be, nobody is let in: no rules would let everybody in. */
  apply(table: EngineTable, set: (table: EngineTable) => void): void {
    const rules = this.#rules
    this.#error = undefined
    if (rules === undefined) return set(table)
    if (this.#init.wireguard === 'kernel') return set({ ...table, peers: [], guests: [], rules })
    try {
      set({ ...table, rules })
    } catch (error) {
      this.#error = error as Error
      set({ ...table, peers: [], guests: [], rules: NOBODY })
      throw error
    }
  }

  status(): RulesStatus | undefined {
    if (this.#rules === undefined) return undefined
    return { hits: this.#init.engine()?.ruleHits() ?? [], refusals: this.#log.list() }
  }

  problems(): readonly VpnProblem[] {
    if (this.#rules !== undefined && this.#init.wireguard === 'kernel') {
      const { code, message } = rulesNeedEngine()
      return [{ code, severity: 'error', title: `${message}: all tunnels are closed`, hint: HINT }]
    }
    if (this.#error === undefined) return []
    const title = `The engine does not take the rules, and all tunnels are closed: ${this.#error.message}`
    const hint = 'Change the rules: `mesh rules check FILE`. They may be too many.'
    return [{ code: 'vpn.rules_not_set', severity: 'error', title, hint }]
  }

  #poll(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#runs && this.#rules !== undefined)
      this.#cancel = this.#clock.after(REFUSALS_MS, () => this.#look())
  }

  #look(): void {
    const refusals = this.#init.engine()?.takeRefusals() ?? []
    if (refusals.length > 0) {
      this.#log.add(refusals, this.#clock.now())
      this.#init.onRefusals(refusals)
    }
    this.#poll()
  }
}

const NOBODY: PacketRules = { ranges: [], layers: [[]], silent: false }

function rulesNeedEngine(): MeshError<VpnErrorCode> {
  const message = "the kernel's WireGuard cannot keep the network's rules"
  return vpnError('vpn.rules_need_engine', message, { hint: HINT })
}
