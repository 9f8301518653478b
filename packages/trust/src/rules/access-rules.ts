/**
 * The access rules that are in force on this node: the network's policy, which its administrators sign, and the node's own
 * (`--rules FILE`). A flow must pass both. Without either, everything is allowed.
 */
import {
  BUCKETS,
  type Cidr,
  type Clock,
  type IpAddress,
  type Logger,
  type PeerId,
  shortPeerId,
} from '@mesh/core'
import type { LedgerEvent } from '@mesh/ledger'
import { trustError } from '../errors.ts'
import { RECOMPILE_DELAY_MS } from '../limits.ts'
import type { TrustLedger } from '../ports.ts'
import { type CompiledRules, compileRules } from './compile-rules.ts'
import { type Judgement, judgeQuestion, type Question, type RuleLayer } from './judge.ts'
import { type Behind, mayReachAny } from './may-talk.ts'
import type { RuledOffer } from './offers.ts'
import { runPolicyTests } from './policy-tests.ts'
import type { Policy } from './policy-schema.ts'
import type { NamedMember, ResolvedPolicy } from './resolve-policy.ts'
import { buildRuleSet } from './rule-set.ts'
import { readRuledMembers, type RuledMember } from './ruled-members.ts'
import type { PolicySource, SignedPolicy } from './signed-policy.ts'

export interface AccessRulesInit {
  readonly self: PeerId
  /** The ranges that members have addresses in. */
  readonly vpnRanges: readonly Cidr[]
  /** True to send no reset and no ICMP error for what is refused (`--rules-drop`). */
  readonly silent?: boolean
  /** The node's own policy, with peer ids in the place of names; undefined for none. */
  readonly own?: Policy | undefined
  /** Whose addresses these are, whatever the ledger says (`--static-peertable`). */
  readonly staticPeers?: readonly { readonly address: IpAddress; readonly peer: PeerId }[]
}

export interface AccessRulesComponents {
  readonly ledger: Pick<TrustLedger, 'snapshot' | 'subscribe'>
  /** The administrators; undefined in a network without any. */
  readonly source?: PolicySource | undefined
  /** Names that members told otherwise than by the ledger, by peer id. */
  readonly toldNames?: () => ReadonlyMap<string, string>
  readonly clock: Clock
  readonly log: Logger
}

/** Begins to follow the ledger; `stop` ends it. What the ledger holds already counts from the start. */
export function createAccessRules(init: AccessRulesInit, components: AccessRulesComponents): AccessRules {
  return new AccessRules(init, { ...components, log: components.log.child('rules') })
}

export class AccessRules {
  readonly #init: AccessRulesInit
  readonly #components: AccessRulesComponents
  readonly #listeners = new Set<() => void>()
  #network: SignedPolicy | undefined
  #own: Policy | undefined
  #layers: readonly RuleLayer[] = []
  /** Undefined when it has to be read again. */
  #members: ReadonlyMap<string, RuledMember> | undefined
  #compiled: { readonly rules: CompiledRules | undefined } | undefined
  #cancelChange: (() => void) | undefined
  readonly #unsubscribe: () => void

  constructor(init: AccessRulesInit, components: AccessRulesComponents) {
    this.#init = init
    this.#components = components
    this.#own = init.own
    this.#network = components.source?.accessPolicy
    this.#layers = this.#buildLayers()
    components.source?.onChange(() => this.#readNetwork())
    this.#unsubscribe = components.ledger.subscribe((event) => this.#hear(event))
  }

  /** The network's policy; undefined where its administrators signed none. */
  get network(): SignedPolicy | undefined {
    return this.#network
  }

  /** The node's own policy; undefined for none. */
  get own(): Policy | undefined {
    return this.#own
  }

  /** The layers in force: the network's first, then this node's own. */
  get layers(): readonly RuleLayer[] {
    return this.#layers
  }

  /** True when this node holds an administrator's key, so that it can sign a policy. */
  get canSign(): boolean {
    return this.#components.source?.holdsKey ?? false
  }

  /** The members that the ledger tells of, by peer id. */
  members(): ReadonlyMap<string, RuledMember> {
    this.#members ??= readRuledMembers(this.#components.ledger.snapshot())
    return this.#members
  }

  /** Members with their names, for policies that name them. */
  namedMembers(): readonly NamedMember[] {
    const named = new Map<string, NamedMember>()
    for (const [peer, name] of this.#components.toldNames?.() ?? []) {
      named.set(peer, { peer: peer as PeerId, name })
    }
    for (const { peer, name } of this.members().values()) if (name !== '') named.set(peer, { peer, name })
    return [...named.values()]
  }

  /** What people call a member: the name that the policy was signed with, what it says itself, or its short peer id. */
  nameOf(peer: PeerId): string {
    const signed = this.#network?.names ?? {}
    const name = Object.hasOwn(signed, peer) ? signed[peer] : undefined
    const told = name ?? this.members().get(peer)?.name ?? ''
    return told === '' ? (this.#components.toldNames?.().get(peer) ?? shortPeerId(peer)) : told
  }

  /** May `from` use this of `to`? What this node is asked for must pass its own rules too. */
  judge(from: PeerId, to: PeerId, offer: RuledOffer): Judgement {
    return this.judgeQuestion({
      from: { kind: 'member', peer: from },
      to: { kind: 'member', peer: to },
      on: offer,
    })
  }

  /** Judges a flow between any two endpoints. */
  judgeQuestion(question: Question): Judgement {
    return judgeQuestion(this.#layersFor(question), question, (peer) => this.nameOf(peer))
  }

  /** May the two talk at all, in either direction, by any rule? Without: no relay and no hole punching for the pair. */
  mayTalk(a: PeerId, b: PeerId): boolean {
    return a === b || this.#mayReach(a, b) || this.#mayReach(b, a)
  }

  /** The rules for this node's packet filter; undefined where everything is allowed. */
  packetRules(): CompiledRules | undefined {
    this.#compiled ??= { rules: this.#compile() }
    return this.#compiled.rules
  }

  /** Puts other own rules into force. */
  setOwn(policy: Policy | undefined): void {
    this.#own = policy
    this.#layers = this.#buildLayers()
    this.#changed()
  }

  /**
   * Signs the network's policy.
   *
   * @throws MeshError `trust.no_administrators`, `trust.no_admin_key`, `trust.tests_failed`, `trust.cuts_self` (not with
   *   `force`), `trust.policy_too_large`
   */
  setNetwork(resolved: ResolvedPolicy, { force = false }: { readonly force?: boolean } = {}): SignedPolicy {
    const { source } = this.#components
    if (source === undefined) {
      throw trustError(
        'trust.no_administrators',
        'this network has no administrators who could sign a policy',
        {
          hint: 'A node can have rules of its own: start it with --rules FILE.',
        },
      )
    }
    const failed = runPolicyTests(resolved.policy, (peer) => this.nameOf(peer)).filter((test) => !test.passed)
    if (failed.length > 0) {
      const what =
        failed.length === 1 ? 'a test of the policy fails' : `${failed.length} tests of the policy fail`
      throw trustError('trust.tests_failed', `${what}: ${failed[0]?.sentence}`, {
        hint: '`mesh rules check FILE` shows all tests. Change the rules or the tests.',
      })
    }
    if (!force && this.cutsOff(resolved.policy)) {
      throw trustError('trust.cuts_self', 'by this policy this node may begin nothing any more', {
        hint: 'Add a rule with this node in from, or sign it anyway: mesh rules set FILE --force.',
      })
    }
    return source.setAccessPolicy(resolved)
  }

  /** True when no rule lets this node begin anything. */
  cutsOff(policy: Policy): boolean {
    const { isOpen, rules } = buildRuleSet(policy)
    const { self } = this.#init
    return !isOpen && !rules.some(({ from }) => from.any || from.members.has(self))
  }

  /** Calls the listener after rules, or the addresses that they stand for, changed; the returned function ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  stop(): void {
    this.#unsubscribe()
    this.#cancelChange?.()
    this.#listeners.clear()
  }

  #mayReach(from: PeerId, to: PeerId): boolean {
    const behind: Behind = {
      routesOf: (peer) => this.members().get(peer)?.routes ?? [],
      isExit: (peer) => this.members().get(peer)?.isExit ?? false,
    }
    const { self } = this.#init
    return this.#layers.every(
      ({ name, rules }) => (name === 'own' && to !== self) || mayReachAny(rules, { from, to }, behind),
    )
  }

  /** A node's own rules are about what it receives. */
  #layersFor({ to }: Question): readonly RuleLayer[] {
    const { self } = this.#init
    const isOthers = (to.kind === 'member' || to.kind === 'guest') && to.peer !== self
    return isOthers ? this.#layers.filter(({ name }) => name === 'network') : this.#layers
  }

  #buildLayers(): readonly RuleLayer[] {
    const [network, own] = [this.#network?.policy, this.#own]
    return [
      ...(network === undefined ? [] : [{ name: 'network', rules: buildRuleSet(network) } as const]),
      ...(own === undefined ? [] : [{ name: 'own', rules: buildRuleSet(own) } as const]),
    ]
  }

  #compile(): CompiledRules | undefined {
    const { self, vpnRanges, silent = false } = this.#init
    return compileRules(this.#layers, { self, vpnRanges, silent, members: this.#addressedMembers() })
  }

  #addressedMembers(): ReadonlyMap<string, RuledMember> {
    const { staticPeers = [] } = this.#init
    const members = new Map(this.members())
    for (const { address, peer } of staticPeers) {
      const known = members.get(peer) ?? {
        peer,
        name: '',
        addresses: [],
        guests: [],
        routes: [],
        isExit: false,
      }
      members.set(peer, { ...known, addresses: [...known.addresses, address] })
    }
    return members
  }

  #readNetwork(): void {
    const policy = this.#components.source?.accessPolicy
    if (policy === this.#network) return
    this.#network = policy
    this.#layers = this.#buildLayers()
    this.#components.log.info('access rules in force', {
      serial: policy?.serial,
      administrator: policy?.admin,
    })
    this.#changed()
  }

  #hear(event: LedgerEvent): void {
    if (event.type !== 'committed') return
    const told: readonly string[] = [BUCKETS.machines, BUCKETS.routes, BUCKETS.egress]
    if (!event.changes.some(({ bucket }) => told.includes(bucket))) return
    this.#members = undefined
    this.#compiled = undefined
    if (this.#layers.length === 0) return
    this.#cancelChange ??= this.#components.clock.after(RECOMPILE_DELAY_MS, () => this.#changed())
  }

  #changed(): void {
    this.#cancelChange?.()
    this.#cancelChange = undefined
    this.#compiled = undefined
    for (const listener of this.#listeners) listener()
  }
}
