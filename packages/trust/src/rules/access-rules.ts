/**
 * The access rules that are in force on this node: the network's policy, which its administrators sign, and the node's own
 * (`--rules FILE`). A flow must pass both. Without either, everything is allowed.
 */
import {
  BUCKETS,
  type Cidr,
  cidrContains,
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
import { type Endpoint, type Judgement, judgeQuestion, type Question, type RuleLayer } from './judge.ts'
import { addressesOf, listEndpoints, routesIn } from './list-endpoints.ts'
import { type Behind, mayReachAny } from './may-talk.ts'
import { describeOffer, describePackets, type RuledOffer } from './offers.ts'
import { runPolicyTests } from './policy-tests.ts'
import type { Policy } from './policy-schema.ts'
import type { NamedMember, ResolvedPolicy } from './resolve-policy.ts'
import { rangeOf } from './ranges.ts'
import { RefusalCounts } from './refusal-counts.ts'
import { buildRuleSet, type RuleSet } from './rule-set.ts'
import { readRuledMembers, type RuledMember } from './ruled-members.ts'
import type { PolicySource, SignedPolicy } from './signed-policy.ts'

export interface AccessRulesInit {
  readonly self: PeerId
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

/** How a policy is signed. */
export interface SetOptions {
  /** Sign it although this node may begin nothing any more by it. */
  readonly force?: boolean
  /** The serial number of the policy that must be in force now; 0 for none. */
  readonly serial?: number
}

/** Flows that the packet filter refused, as the engine tells them. */
export interface RefusedPackets {
  readonly source: IpAddress
  readonly destination: IpAddress
  /** The number of the IP protocol. */
  readonly protocol: number
  readonly port: number | undefined
  readonly count: number
}

/** Begins to follow the ledger; `stop` ends it. What the ledger holds already counts from the start. */
export function createAccessRules(init: AccessRulesInit, components: AccessRulesComponents): AccessRules {
  return new AccessRules(init, { ...components, log: components.log.child('rules') })
}

export class AccessRules {
  readonly #init: AccessRulesInit
  readonly #components: AccessRulesComponents
  readonly #listeners = new Set<() => void>()
  /** Counts refusals by pair. */
  readonly refusals: RefusalCounts
  #network: SignedPolicy | undefined
  #own: Policy | undefined
  #vpnRanges: readonly Cidr[] = []
  #layers: readonly RuleLayer[] = []
  /** Undefined when it has to be read again. */
  #members: ReadonlyMap<string, RuledMember> | undefined
  #compiled: { readonly rules: CompiledRules | undefined } | undefined
  #endpoints: ReadonlyMap<IpAddress, Endpoint> | undefined
  #cancelChange: (() => void) | undefined
  readonly #unsubscribe: () => void

  constructor(init: AccessRulesInit, components: AccessRulesComponents) {
    this.#init = init
    this.#components = components
    this.refusals = new RefusalCounts(components.clock)
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

  /** Members with their names, for policies that name them: as they are told now, else as the policy in force has them. */
  namedMembers(): readonly NamedMember[] {
    const named = new Map<string, NamedMember>()
    for (const [peer, name] of Object.entries(this.#network?.names ?? {})) {
      named.set(peer, { peer: peer as PeerId, name })
    }
    for (const [peer, name] of this.#components.toldNames?.() ?? []) {
      named.set(peer, { peer: peer as PeerId, name })
    }
    for (const { peer, name } of this.members().values()) if (name !== '') named.set(peer, { peer, name })
    return [...named.values()]
  }

  /** Gives a member's name: the one that the policy was signed with, its own, or its short peer id. */
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

  /** Whose address it is, as a source or target of packets. */
  endpointOf(address: IpAddress): Endpoint {
    this.#endpoints ??= new Map(addressesOf(this.#addressedMembers().values()))
    const known = this.#endpoints.get(address)
    if (known !== undefined) return known
    const { self } = this.#init
    const routes = [
      ...(this.members().get(self)?.routes ?? []),
      ...routesIn(this.#layers),
      ...this.#vpnRanges,
    ]
    const isNear = routes.some((range) => cidrContains(range, address))
    return isNear ? { kind: 'route', range: rangeOf(address) } : { kind: 'exit' }
  }

  /** Everything that can be the end of a flow, as the ledger and the policies tell: for tables and comparisons. */
  endpoints(...policies: readonly RuleSet[]): readonly Endpoint[] {
    return listEndpoints(this.members(), [...this.#layers.map(({ rules }) => rules), ...policies])
  }

  /** Counts something that was refused. */
  noteRefusal({ from, to, on, count = 1 }: Question & { readonly count?: number }): void {
    this.refusals.add({ from, to, on: describeOffer(on), count })
  }

  /** Counts flows that the packet filter refused, by the addresses of their packets. */
  notePackets({ source, destination, protocol, port, count }: RefusedPackets): void {
    const on = describePackets(protocol, port)
    this.refusals.add({ from: this.endpointOf(source), to: this.endpointOf(destination), on, count })
  }

  /** The rules for this node's packet filter; undefined where everything is allowed. */
  packetRules(): CompiledRules | undefined {
    this.#compiled ??= { rules: this.#compile() }
    return this.#compiled.rules
  }

  /** Says in which ranges members have addresses: nothing in them is the Internet or a network behind a member. */
  setVpnRanges(ranges: readonly Cidr[]): void {
    this.#vpnRanges = ranges
    this.#changed()
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
   * @throws MeshError `trust.no_administrators`, `trust.no_admin_key`, `trust.policy_changed`, `trust.tests_failed`,
   *   `trust.cuts_self` (not with `force`), `trust.policy_too_large`
   */
  setNetwork(resolved: ResolvedPolicy, { force = false, serial }: SetOptions = {}): SignedPolicy {
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
    const inForce = this.#network?.serial ?? 0
    if (serial !== undefined && serial !== inForce) {
      throw trustError('trust.policy_changed', `policy ${inForce} is in force, and not ${serial}`)
    }
    this.#checkTests(resolved)
    if (!force && this.cutsOff(resolved.policy)) {
      throw trustError('trust.cuts_self', 'by this policy this node may begin nothing any more')
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

  /** @throws MeshError `trust.tests_failed` */
  #checkTests({ policy }: ResolvedPolicy): void {
    const [first, ...others] = runPolicyTests(policy, (peer) => this.nameOf(peer)).filter(
      ({ passed }) => !passed,
    )
    if (first === undefined) return
    const what = others.length === 0 ? 'a test fails' : `${others.length + 1} tests fail`
    throw trustError('trust.tests_failed', `${what}: ${first.sentence}`)
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
    const { self, silent = false } = this.#init
    const vpnRanges = this.#vpnRanges
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
    this.#endpoints = undefined
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
