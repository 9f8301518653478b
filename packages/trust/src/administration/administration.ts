/**
 * Administrators of a network: what they say is read from the bucket `admission`, where only their signatures count,
 * and decides who is in. A node that holds an administrator's key writes there what a person asks for, admits itself,
 * and confirms the claims of invites.
 */
import { BUCKETS, type Clock, type Logger, type PeerId, type Random } from '@mesh/core'
import {
  type BucketPolicy,
  type Entry,
  type EntryGroup,
  type KeyedEntry,
  type Signer,
  type Verify,
} from '@mesh/ledger'
import { trustError } from '../errors.ts'
import { INVITE_LIFE_MS, MAX_CLAIMS_PER_INVITE, MAX_INVITE_LIFE_MS } from '../limits.ts'
import type { PublishEntries, TrustLedger } from '../ports.ts'
import { buildClaim, type InviteClaim, whyNoUse } from './invite-claim.ts'
import { formatInviteCode, formatInviteLink } from './invite-code.ts'
import { buildRoster, type Roster } from './roster.ts'
import { type KeptEntries, pickKept } from './kept-entries.ts'
import { type Revocation, Revocations } from './revocations.ts'
import { signStatement } from './sign-statement.ts'
import {
  type InviteUse,
  type MemberState,
  ownerOf,
  readStatement,
  type Statement,
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
  readonly #administrators: ReadonlySet<string>
  readonly #listeners = new Set<() => void>()
  readonly #read = new WeakMap<Entry, Statement | null>()
  #ledger: TrustLedger | undefined
  #publish: PublishEntries = () => {}
  #roster: Roster = EMPTY
  #cancelExpiry = () => {}
  #revocations = new Revocations()
  readonly #withdrawals: Withdrawals
  #walk: WithdrawalWalk | undefined
  #ownInvite: PeerId | undefined
  /** Waits until this node has heard of its invite. */
  #pendingClaim: InviteClaim | undefined
  #unsubscribe = () => {}

  constructor(init: AdministrationInit, components: AdministrationComponents) {
    this.#init = init
    this.#components = components
    this.#administrators = new Set(init.administrators)
    this.#withdrawals = new Withdrawals({
      self: init.self,
      mayUse: (peer) => this.mayUse(peer),
      revocationsOf: (peer) => this.#revocations.idOf(peer),
    })
  }

  /** The rule of the bucket `admission`: each statement belongs to whose signature it needs, for good. */
  readonly policy: BucketPolicy = {
    expiry: 'never',
    ownerOf: (key, valueText) => this.#requiredOwner(this.#statementIn(key, valueText)),
    isValid: ({ key, entry }) => entry.owner === ownerByKey(key),
    groupOf: (key) => this.#claimsOf(key),
  }

  get roster(): Roster {
    return this.#roster
  }

  get administrators(): readonly PeerId[] {
    return this.#init.administrators
  }

  /** True when this node holds a key of one of the administrators. */
  get holdsKey(): boolean {
    return this.#tryAdminSigner() !== undefined
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
    if (this.#init.invite !== undefined) this.#claim(this.#init.invite)
  }

  /** Lets what this node says go out at once from now on. */
  connect(publish: PublishEntries): void {
    this.#publish = publish
    publish(this.#ownEntries())
  }

  mayUse(peer: string): boolean {
    if (this.#roster.admitted.has(peer)) return true
    const invite = this.#roster.provisional.get(peer as PeerId)
    return invite !== undefined && this.#components.clock.now() < invite.expiresAt
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
    const invite = this.#roster.invites.find((each) => each.invite === this.#ownInvite)
    if (invite === undefined) return undefined
    if (this.#roster.disputed.includes(invite)) return 'several peers used it'
    return whyNoUse(invite, { peer: this.#init.self, now: this.#components.clock.now() })
  }

  /** Calls the listener after the roster changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /**
   * Says whether a peer may use the network.
   *
   * @throws MeshError `trust.no_admin_key`, `trust.foreign_admin_key`, `trust.own_node`, `trust.not_stated`
   */
  setMember(peer: PeerId, state: MemberState): void {
    const signer = this.#adminSigner()
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
    this.#state(signer, writeMember(this.#init.network, { admin: signer.peerId, peer, state, use, kept }))
  }

  /** @throws MeshError as `setMember` */
  invite({ lifeMs = INVITE_LIFE_MS, label = '' }: { lifeMs?: number; label?: string }): NewInvite {
    const signer = this.#adminSigner()
    const seed = this.#components.random.bytes(32)
    const invite = this.#components.signerOf(seed).peerId
    const expiresAt = Math.ceil(this.#components.clock.now()) + Math.min(lifeMs, MAX_INVITE_LIFE_MS)
    const statement = { admin: signer.peerId, invite, expiresAt, state: 'open', label } as const
    this.#state(signer, writeInvite(this.#init.network, statement))
    const code = formatInviteCode(seed)
    return { code, link: formatInviteLink(code), invite, expiresAt }
  }

  /** @throws MeshError as `setMember`, and `trust.unknown_invite` */
  cancelInvite(invite: PeerId): void {
    const signer = this.#adminSigner()
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
    this.#roster = buildRoster(this.#statements(), now)
    this.#revocations = new Revocations(this.#standingRevocations())
    this.#withdrawals.note(this.#roster)
    this.#cancelExpiry()
    const { changesAt } = this.#roster
    this.#cancelExpiry =
      changesAt === undefined ? () => {} : clock.after(changesAt - now, () => this.#changed())
    for (const listener of this.#listeners) listener()
    // an event of the ledger's has led here, in which it is not written to
    clock.after(0, () => this.#walk?.begin(this.#withdrawals.takeDue(this.#roster)))
    if (this.#tryAdminSigner() !== undefined) this.#serve()
  }

  /** Yields the revocations among what `#statements` has read. */
  *#standingRevocations(): Iterable<Revocation> {
    for (const { entry } of this.#ledger?.snapshot().entries(BUCKETS.admission) ?? []) {
      const statement = this.#read.get(entry)
      if (entry.deleted || statement?.kind !== 'member' || statement.state !== 'revoked') continue
      yield { statement, entry }
    }
  }

  *#statements(): Iterable<Statement> {
    for (const keyed of this.#ledger?.snapshot().entries(BUCKETS.admission) ?? []) {
      const { entry } = keyed
      if (entry.deleted) continue
      let statement = this.#read.get(entry)
      if (statement === undefined) {
        statement = this.#readEntry(keyed) ?? null
        this.#read.set(entry, statement)
      }
      if (statement !== null) yield statement
    }
  }

  /** Checks again what the ledger has checked: it may hold entries from before this network had administrators. */
  #readEntry({ key, entry }: KeyedEntry): Statement | undefined {
    const statement = this.#statementIn(key, entry.value)
    if (statement === undefined || entry.owner !== ownerOf(statement)) return undefined
    return statement.kind === 'claim' || this.#administrators.has(statement.admin) ? statement : undefined
  }

  #statementIn(key: string, valueText: string): Statement | undefined {
    const { verify } = this.#components
    return readStatement({ network: this.#init.network, verify }, key, valueText)
  }

  /** Whom an entry must belong to that says this; '' for one that is not taken. */
  #requiredOwner(statement: Statement | undefined): string {
    if (statement === undefined) return ''
    if (statement.kind !== 'claim') return this.#administrators.has(statement.admin) ? statement.admin : ''
    return statement.peer
  }

  /** The claims of one invite, which are held whatever has become of it, so that all nodes hold the same. */
  #claimsOf(key: string): EntryGroup | undefined {
    const [first, invite = ''] = key.split('/')
    if (first !== 'claim') return undefined
    const needs = this.#init.administrators.map((admin) => `${admin}/invite/${invite}`)
    return { prefix: `claim/${invite}/`, most: MAX_CLAIMS_PER_INVITE, needs }
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
    // of one that several claimed a person decided for this peer, or against it
    const claimed = invites.find(({ usedBy, claims }) => usedBy === undefined && claims.includes(peer))
    return claimed && { invite: claimed.invite, at: Math.floor(this.#components.clock.now()) }
  }

  #entriesKeptOf(peer: PeerId): KeptEntries {
    const isIn = this.mayUse(peer)
    // of who is out already only what stays may be named again
    const counts = (keyed: KeyedEntry) => keyed.entry.owner === peer && (isIn || this.keeps(keyed))
    return pickKept(this.#ledger?.snapshot().entries() ?? [], counts)
  }

  // writing

  #claim(code: string): void {
    const claim = buildClaim(code, { ...this.#init, ...this.#components })
    this.#ownInvite = claim.invite
    if (this.#roster.admitted.has(this.#init.self)) return
    this.#pendingClaim = claim
    this.onChange(() => this.#putClaim())
    this.#putClaim()
  }

  #putClaim(): void {
    const claim = this.#pendingClaim
    const invite = this.#roster.invites.find((each) => each.invite === claim?.invite)
    if (claim === undefined || invite === undefined) return
    this.#pendingClaim = undefined
    const { clock, log } = this.#components
    const reason = whyNoUse(invite, { peer: this.#init.self, now: clock.now() })
    if (reason === undefined) clock.after(0, () => this.#sayClaim(claim))
    else log.warn('invite not claimed', { invite: claim.invite, reason })
  }

  #sayClaim({ invite, writing }: InviteClaim): void {
    const { signer, log } = this.#components
    try {
      this.#state(signer, writing)
      log.info('invite claimed', { invite })
    } catch (error) {
      log.warn('invite not claimed', { invite, reason: String(error) })
    }
  }

  /** @throws MeshError `trust.not_stated` */
  #state(signer: Signer, { key, valueText }: Writing): void {
    const ledger = this.#ledger
    if (ledger === undefined) throw trustError('trust.not_stated', 'the ledger is not open yet')
    const nowMs = this.#components.clock.now()
    const existing = ledger.snapshot().get(BUCKETS.admission, key)
    const keyed = signStatement({ key, valueText, existing, nowMs }, signer)
    const { rejected } = ledger.merge([keyed], undefined)
    const code = rejected[0]?.code
    if (code !== undefined) throw trustError('trust.not_stated', `the ledger refused it (${code})`)
    this.#publish([keyed])
  }

  /** Yields what this node has said so far: who came in the meantime may not know it. */
  *#ownEntries(): Iterable<KeyedEntry> {
    const own = new Set<string>([this.#init.self, this.#tryAdminSigner()?.peerId ?? ''])
    for (const keyed of this.#ledger?.snapshot().entries(BUCKETS.admission) ?? []) {
      if (own.has(keyed.entry.owner)) yield keyed
    }
  }

  #adminSigner(): Signer {
    const signer = this.#tryAdminSigner()
    if (signer !== undefined) return signer
    const hasOther = this.#components.readAdminSeed() !== undefined
    throw hasOther
      ? trustError('trust.foreign_admin_key', "the key of this node is no administrator's of this network")
      : trustError('trust.no_admin_key', "this node holds no administrator's key", {
          hint: 'Ask on the machine where `mesh admin init` was run, or give --admin-key FILE.',
        })
  }

  #tryAdminSigner(): Signer | undefined {
    const seed = this.#components.readAdminSeed()
    if (seed === undefined) return undefined
    const signer = this.#components.signerOf(seed)
    return this.#administrators.has(signer.peerId) ? signer : undefined
  }
}

/** Whose an entry of the bucket can only be: the administrator or the claimant that its key names. */
function ownerByKey(key: string): string {
  const [first = '', , third = ''] = key.split('/')
  return first === 'claim' ? third : first
}
