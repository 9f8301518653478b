/**
 * Administrators of a network: what they say is read from the bucket `admission`, where only their signatures count,
 * and decides who is in. A node that holds an administrator's key writes there what a person asks for, admits itself,
 * and confirms the claims of invites.
 */
import { BUCKETS, type Clock, type Logger, type PeerId, type Random } from '@mesh/core'
import { type BucketPolicy, type KeyedEntry, type Signer, type Verify } from '@mesh/ledger'
import { trustError } from '../errors.ts'
import {
  INVITE_LIFE_MS,
  MAX_INVITE_LIFE_MS,
  MAX_MEMBER_LIFE_MS,
  MEMBER_END_CHECK_MS,
  MEMBER_END_TOLERANCE_MS,
  MIN_MEMBER_LIFE_MS,
} from '../limits.ts'
import type { PublishEntries, TrustLedger } from '../ports.ts'
import type { ResolvedPolicy } from '../rules/resolve-policy.ts'
import type { SignedPolicy } from '../rules/signed-policy.ts'
import { AdministratorKey } from './administrator-key.ts'
import { OwnClaim } from './invite-claim.ts'
import { formatInviteCode, formatInviteLink } from './invite-code.ts'
import { type CheckPolicy, newestPolicy, type PolicyStatement, writePolicy } from './policy-statement.ts'
import { buildRoster, type Invite, type Roster } from './roster.ts'
import { type KeptEntries, pickKept } from './kept-entries.ts'
import { Revocations, standingRevocations } from './revocations.ts'
import { signStatement } from './sign-statement.ts'
import { StatementReader } from './statement-reader.ts'
import {
  type InviteUse,
  type MemberState,
  writeApproval,
  writeInvite,
  writeMember,
  type Writing,
} from './statements.ts'
import { WithdrawalWalk } from './withdrawal-walk.ts'
import { Withdrawals } from './withdrawals.ts'

export interface AdministrationInit {
  /** The network's id, 20 hexadecimal digits. */
  readonly network: string
  readonly self: PeerId
  /** The public keys of the administrators, in the form of peer ids. */
  readonly administrators: readonly PeerId[]
  /** The code of an invite that this node uses where it is not in yet. */
  readonly invite?: string
}

export interface AdministrationComponents {
  readonly signer: Signer
  /** Gives the signer of a seed. */
  readonly signerOf: (seed: Uint8Array) => Signer
  readonly verify?: Verify | undefined
  readonly checkPolicy: CheckPolicy | undefined
  /** Gives the seed of the administrator's key that this node holds; asked for each time that it is needed. */
  readonly readAdminSeed: () => Uint8Array | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** A new invite; the code is shown once and kept nowhere. */
export interface NewInvite {
  readonly code: string
  /** The code as a link. */
  readonly link: string
  readonly invite: PeerId
  /** The time, in unix ms. */
  readonly expiresAt: number
}

const EMPTY: Roster = buildRoster([], 0)

export class Administration {
  readonly #init: AdministrationInit
  readonly #components: AdministrationComponents
  readonly #listeners = new Set<() => void>()
  readonly #reader: StatementReader
  #ledger: TrustLedger | undefined
  #publish: PublishEntries = () => {}
  #roster: Roster = EMPTY
  #policy: PolicyStatement | undefined
  #cancelExpiry = () => {}
  #revocations = new Revocations()
  readonly #withdrawals: Withdrawals
  #walk: WithdrawalWalk | undefined
  #ownClaim: OwnClaim | undefined
  readonly #key: AdministratorKey
  #unsubscribe = () => {}

  constructor(init: AdministrationInit, components: AdministrationComponents) {
    this.#init = init
    this.#components = components
    this.#reader = new StatementReader({
      ...init,
      verify: components.verify,
      checkPolicy: components.checkPolicy,
    })
    this.#key = new AdministratorKey(new Set(init.administrators), components)
    this.#withdrawals = new Withdrawals({
      self: init.self,
      mayUse: (peer) => this.mayUse(peer),
      revocationsOf: (peer) => this.#revocations.idOf(peer),
    })
  }

  /** The rule of the bucket `admission`: each statement belongs to whose signature it needs, for good. */
  get policy(): BucketPolicy {
    return this.#reader.policy
  }

  get roster(): Roster {
    return this.#roster
  }

  /** The time by which the roster counts, in Unix ms. */
  get now(): number {
    return this.#components.clock.now()
  }

  /** The newest policy of access rules that this node has heard; it never becomes an older one. */
  get accessPolicy(): SignedPolicy | undefined {
    return this.#policy
  }

  get administrators(): readonly PeerId[] {
    return this.#init.administrators
  }

  /** True when this node holds a key of one of the administrators. */
  get holdsKey(): boolean {
    return this.#key.signer() !== undefined
  }

  /** Reads what the ledger holds, from now on after each change, too. @throws MeshError `trust.needs_enforce` */
  attach(ledger: TrustLedger): void {
    if (ledger.mode !== 'enforce') {
      throw trustError('trust.needs_enforce', 'administrators need --ownership enforce', {
        hint: 'Leave --ownership out: other modes take statements that nobody signed.',
      })
    }
    this.#ledger = ledger
    const { clock, log } = this.#components
    this.#walk = new WithdrawalWalk({
      ledger,
      keeps: (keyed) => this.keeps(keyed),
      onWithdrawn: (entries) =>
        log.info('entries withdrawn that peers wrote while they were not let in', { entries }),
      clock,
    })
    this.#unsubscribe = ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      if (event.changes.some(({ bucket }) => bucket === BUCKETS.admission)) this.#changed()
    })
    this.#changed()
    const { invite } = this.#init
    if (invite === undefined) return
    const { signer, signerOf } = this.#components
    this.#ownClaim = new OwnClaim(
      invite,
      { ...this.#init, signerOf },
      {
        clock,
        log,
        state: (writing) => this.#state(signer, writing),
      },
    )
    this.onChange(() => this.#ownClaim?.note(this.#roster))
    this.#ownClaim.note(this.#roster)
  }

  /** Lets what this node says go out at once from now on. */
  connect(publish: PublishEntries): void {
    this.#publish = publish
    publish(this.#ownEntries())
  }

  mayUse(peer: string): boolean {
    const { admitted, endsAt, provisional } = this.#roster
    const now = this.#components.clock.now()
    if (admitted.has(peer)) return now < (endsAt.get(peer) ?? now) + MEMBER_END_TOLERANCE_MS
    const invite = provisional.get(peer as PeerId)
    return invite !== undefined && now < invite.expiresAt
  }

  isRevoked(peer: string): boolean {
    return this.#roster.revoked.has(peer)
  }

  /** True for what stays of a peer's entries that was shut out: members keep that, and may show it to others. */
  keeps(keyed: KeyedEntry): boolean {
    return this.#revocations.keeps(keyed)
  }

  /** Says why the invite that this node was given does not let it in; undefined while it may, or nobody told of it yet. */
  get whyNoInvite(): string | undefined {
    return this.#ownClaim?.whyNot(this.#roster)
  }

  /** Calls the listener after the roster changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /**
   * Says whether a peer may use the network.
   *
   * @param forMs how long it is a member from now, in ms; by default as long as its invite says that it claimed, else for good
   * @throws MeshError `trust.no_admin_key`, `trust.foreign_admin_key`, `trust.own_node`, `trust.not_stated`
   */
  setMember(peer: PeerId, state: MemberState, { forMs }: { readonly forMs?: number | undefined } = {}): void {
    const signer = this.#key.require()
    if (peer === this.#init.self && state === 'revoked') {
      throw trustError(
        'trust.own_node',
        "this node holds the administrator's key and cannot shut itself out",
        {
          hint: 'Nobody would hear it afterwards. Put the key on another machine that is in, and ask there.',
        },
      )
    }
    const use = this.#useOf(peer, signer.peerId)
    const kept = state === 'revoked' ? this.#entriesKeptOf(peer) : undefined
    const until = state === 'admitted' ? this.#endOf(forMs ?? this.#claimedBy(peer)?.memberForMs) : undefined
    const statement = { admin: signer.peerId, peer, state, use, kept, until }
    this.#state(signer, writeMember(this.#init.network, statement))
  }

  /**
   * Asks for an administrator's approval of those that use an invite, or does not any more; other administrators may
   * still ask for it.
   *
   * @throws MeshError as `setMember`
   */
  setApproval(isRequired: boolean): void {
    const signer = this.#key.require()
    this.#state(signer, writeApproval(this.#init.network, { admin: signer.peerId, isRequired }))
  }

  /** Signs a policy with the next serial number. @throws MeshError as `setMember`, and `trust.policy_too_large` */
  setAccessPolicy({ policy, names }: ResolvedPolicy): SignedPolicy {
    const signer = this.#key.require()
    const serial = (this.#policy?.serial ?? 0) + 1
    const statement = { admin: signer.peerId, serial, signedAt: this.#components.clock.now(), policy, names }
    this.#state(signer, writePolicy(this.#init.network, statement))
    return statement
  }

  /** @throws MeshError as `setMember` */
  invite({
    lifeMs = INVITE_LIFE_MS,
    label = '',
    memberForMs,
  }: {
    readonly lifeMs?: number
    readonly label?: string
    /** How long the peer that uses it is a member, in ms; undefined: for good. */
    readonly memberForMs?: number | undefined
  }): NewInvite {
    const signer = this.#key.require()
    const seed = this.#components.random.bytes(32)
    const invite = this.#components.signerOf(seed).peerId
    const expiresAt = Math.ceil(this.#components.clock.now()) + Math.min(lifeMs, MAX_INVITE_LIFE_MS)
    const statement = { admin: signer.peerId, invite, expiresAt, state: 'open', label, memberForMs } as const
    this.#state(signer, writeInvite(this.#init.network, statement))
    const code = formatInviteCode(seed)
    return { code, link: formatInviteLink(code), invite, expiresAt }
  }

  /** @throws MeshError as `setMember`, and `trust.unknown_invite` */
  cancelInvite(invite: PeerId): void {
    const signer = this.#key.require()
    const known = this.#roster.invites.find((each) => each.invite === invite && each.admin === signer.peerId)
    if (known === undefined)
      throw trustError('trust.unknown_invite', 'this administrator made no such invite')
    this.#state(signer, writeInvite(this.#init.network, { ...known, state: 'cancelled' }))
  }

  stop(): void {
    this.#unsubscribe()
    this.#cancelExpiry()
    this.#walk?.stop()
    this.#listeners.clear()
  }

  // what the ledger says

  #changed(): void {
    const { clock } = this.#components
    const now = clock.now()
    const read = [...this.#reader.readAll(this.#ledger?.snapshot().entries(BUCKETS.admission) ?? [])]
    const statements = read.map(({ statement }) => statement)
    this.#roster = buildRoster(statements, now)
    this.#policy = newestPolicy(this.#policy, statements)
    this.#revocations = new Revocations(standingRevocations(read, this.#roster))
    this.#withdrawals.note(this.#roster)
    this.#awaitEnd()
    for (const listener of this.#listeners) listener()
    // an event of the ledger's has led here, in which it is not written to
    clock.after(0, () => this.#walk?.begin(this.#withdrawals.takeDue(this.#roster)))
    if (this.#key.signer() !== undefined) this.#serve()
  }

  /** Waits for the next end by the wall clock, which may be set meanwhile. */
  #awaitEnd(): void {
    this.#cancelExpiry()
    const { clock } = this.#components
    const { changesAt } = this.#roster
    if (changesAt === undefined) {
      this.#cancelExpiry = () => {}
      return
    }
    const waitMs = Math.min(changesAt - clock.now(), MEMBER_END_CHECK_MS)
    this.#cancelExpiry = clock.after(waitMs, () => {
      if (clock.now() < changesAt) this.#awaitEnd()
      else this.#changed()
    })
  }

  // what an administrator's node does by itself

  #serve(): void {
    const { clock, log } = this.#components
    const { admitted, revoked, provisional } = this.#roster
    const { self } = this.#init
    const isMissing = !admitted.has(self) && !revoked.has(self)
    const claimants = isMissing ? [self, ...provisional.keys()] : [...provisional.keys()]
    if (claimants.length === 0) return
    clock.after(0, () => {
      for (const peer of claimants) {
        if (!this.mayUse(peer) && peer !== self) continue
        if (this.#roster.admitted.has(peer) || this.isRevoked(peer)) continue
        try {
          this.setMember(peer, 'admitted')
          log.info('peer admitted', { peer })
        } catch (error) {
          log.warn('peer not admitted', { peer, error: String(error) })
        }
      }
    })
  }

  /** The invite that a statement on the peer uses up, or has; none where another peer used it first. */
  #useOf(peer: PeerId, admin: PeerId): InviteUse | undefined {
    const { members, invites } = this.#roster
    const before = members.find((each) => each.peer === peer && each.admin === admin)?.use
    const used = invites.find((each) => each.usedBy === peer && each.invite === before?.invite)
    if (used !== undefined) return before
    const claimed = this.#claimedBy(peer)
    return claimed && { invite: claimed.invite, at: Math.floor(this.#components.clock.now()) }
  }

  /** The unused invite that a peer claimed: of one that several claimed a person decides for this peer, or against it. */
  #claimedBy(peer: PeerId): Invite | undefined {
    return this.#roster.invites.find(({ usedBy, claims }) => usedBy === undefined && claims.includes(peer))
  }

  /** The end of a membership of this length that begins now, in Unix ms. */
  #endOf(forMs: number | undefined): number | undefined {
    if (forMs === undefined) return undefined
    const lifeMs = Math.min(Math.max(forMs, MIN_MEMBER_LIFE_MS), MAX_MEMBER_LIFE_MS)
    return Math.ceil(this.#components.clock.now()) + lifeMs
  }

  #entriesKeptOf(peer: PeerId): KeptEntries {
    const isIn = this.mayUse(peer)
    // of who is out already only what stays may be named again
    const counts = (keyed: KeyedEntry) => keyed.entry.owner === peer && (isIn || this.keeps(keyed))
    return pickKept(this.#ledger?.snapshot().entries() ?? [], counts)
  }

  // writing

  /** @throws MeshError `trust.not_stated` */
  #state(signer: Signer, { key, valueText, version }: Writing): void {
    const ledger = this.#ledger
    if (ledger === undefined) throw trustError('trust.not_stated', 'the ledger is not open yet')
    const nowMs = this.#components.clock.now()
    const existing = ledger.snapshot().get(BUCKETS.admission, key)
    const keyed = signStatement({ key, valueText, existing, nowMs, version }, signer)
    const { rejected } = ledger.merge([keyed], undefined)
    const code = rejected[0]?.code
    if (code !== undefined) throw trustError('trust.not_stated', `the ledger refused it (${code})`)
    this.#publish([keyed])
  }

  /** Yields what this node has said so far: who came in the meantime may not know it. */
  *#ownEntries(): Iterable<KeyedEntry> {
    const own = new Set<string>([this.#init.self, this.#key.signer()?.peerId ?? ''])
    for (const keyed of this.#ledger?.snapshot().entries(BUCKETS.admission) ?? []) {
      if (own.has(keyed.entry.owner)) yield keyed
    }
  }
}
