/**
 * Administrators of a network: what they say is read from the bucket `admission`, where only their signatures count,
 * and decides who is in. A node that holds an administrator's key writes there what a person asks for, admits itself,
 * and confirms the claims of invites.
 */
import { BUCKETS, type Clock, type Logger, type PeerId, type Random } from '@mesh/core'
import { type BucketPolicy, type Entry, type KeyedEntry, type Signer } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { trustError } from '../errors.ts'
import { INVITE_LIFE_MS, MAX_CLAIMS_PER_INVITE, MAX_INVITE_LIFE_MS } from '../limits.ts'
import type { PublishEntries, TrustLedger } from '../ports.ts'
import { formatInviteCode, parseInviteCode } from './invite-code.ts'
import { buildRoster, type Invite, type Roster } from './roster.ts'
import { signStatement } from './sign-statement.ts'
import {
  claimBytes,
  type MemberState,
  ownerOf,
  readStatement,
  type Statement,
  writeClaim,
  writeInvite,
  writeMember,
  type Writing,
} from './statements.ts'

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
  /** Gives the seed of the administrator's key that this node holds; asked for each time that it is needed. */
  readonly readAdminSeed: () => Uint8Array | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** A new invite; the code is shown once and kept nowhere. */
export interface NewInvite {
  readonly code: string
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
  /** The version of the revocation from which on nothing of a peer counts, as far as that was carried out. */
  readonly #withdrawn = new Map<PeerId, bigint>()
  #unsubscribe = () => {}

  constructor(init: AdministrationInit, components: AdministrationComponents) {
    this.#init = init
    this.#components = components
    this.#administrators = new Set(init.administrators)
  }

  /** The rule of the bucket `admission`: each statement belongs to whose signature it needs, for good. */
  readonly policy: BucketPolicy = {
    expiry: 'never',
    ownerOf: (key, valueText) => this.#requiredOwner(readStatement(this.#init.network, key, valueText)),
    isValid: ({ key, entry }) => entry.owner === ownerByKey(key),
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
    const before = this.#roster.members.find((each) => each.peer === peer && each.admin === signer.peerId)
    const claimed = this.#roster.provisional.get(peer)
    const own = claimed?.admin === signer.peerId ? claimed.invite : this.#disputedInvite(peer, signer.peerId)
    const statement = { admin: signer.peerId, peer, state, invite: before?.invite ?? own }
    this.#state(signer, writeMember(this.#init.network, statement))
  }

  /** @throws MeshError as `setMember` */
  invite({ lifeMs = INVITE_LIFE_MS, label = '' }: { lifeMs?: number; label?: string }): NewInvite {
    const signer = this.#adminSigner()
    const seed = this.#components.random.bytes(32)
    const invite = createNodeSigner(seed).peerId
    const expiresAt = Math.ceil(this.#components.clock.now()) + Math.min(lifeMs, MAX_INVITE_LIFE_MS)
    const statement = { admin: signer.peerId, invite, expiresAt, state: 'open', label } as const
    this.#state(signer, writeInvite(this.#init.network, statement))
    return { code: formatInviteCode(seed), invite, expiresAt }
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
    this.#listeners.clear()
  }

  // what the ledger says

  #changed(): void {
    const { clock } = this.#components
    const now = clock.now()
    this.#roster = buildRoster(this.#statements(), now)
    this.#cancelExpiry()
    const { changesAt } = this.#roster
    this.#cancelExpiry =
      changesAt === undefined ? () => {} : clock.after(changesAt - now, () => this.#changed())
    for (const listener of this.#listeners) listener()
    // an event of the ledger's has led here, in which it is not written to
    if (this.#roster.revoked.size > 0) clock.after(0, () => this.#withdrawLater())
    if (this.#tryAdminSigner() !== undefined) this.#serve()
  }

  /** Takes out what a peer wrote after it was shut out: a node that heard of that late has taken some of it. */
  #withdrawLater(): void {
    const { log } = this.#components
    const since = this.#revokedSince()
    for (const peer of this.#withdrawn.keys()) if (!since.has(peer)) this.#withdrawn.delete(peer)
    for (const [peer, version] of since) {
      if (peer === this.#init.self || this.#withdrawn.get(peer) === version) continue
      this.#withdrawn.set(peer, version)
      const entries = this.#ledger?.withdraw(peer, version) ?? 0
      if (entries > 0)
        log.info('entries withdrawn that a peer wrote after it was shut out', { peer, entries })
    }
  }

  /** The version of the first revocation that stands, by peer. */
  #revokedSince(): ReadonlyMap<PeerId, bigint> {
    const since = new Map<PeerId, bigint>()
    for (const { entry } of this.#ledger?.snapshot().entries(BUCKETS.admission) ?? []) {
      const statement = this.#read.get(entry)
      if (entry.deleted || statement?.kind !== 'member' || statement.state !== 'revoked') continue
      const known = since.get(statement.peer)
      if (known === undefined || entry.version < known) since.set(statement.peer, entry.version)
    }
    return since
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
    const statement = readStatement(this.#init.network, key, entry.value)
    if (statement === undefined || entry.owner !== ownerOf(statement)) return undefined
    return statement.kind === 'claim' || this.#administrators.has(statement.admin) ? statement : undefined
  }

  /** Whom an entry must belong to that says this; '' for one that is not taken. */
  #requiredOwner(statement: Statement | undefined): string {
    if (statement === undefined) return ''
    if (statement.kind !== 'claim') return this.#administrators.has(statement.admin) ? statement.admin : ''
    const invite = this.#roster.invites.find((each) => each.invite === statement.invite)
    const isOpen = invite?.state === 'open' && this.#components.clock.now() < invite.expiresAt
    if (invite === undefined || !(isOpen || invite.usedBy === statement.peer)) return ''
    const isFull = invite.claims.length >= MAX_CLAIMS_PER_INVITE && !invite.claims.includes(statement.peer)
    return isFull ? '' : statement.peer
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

  /** The invite that a peer claimed together with others: a person decided for this one, or against it. */
  #disputedInvite(peer: PeerId, admin: PeerId): PeerId | undefined {
    const isOf = (invite: Invite) =>
      invite.admin === admin && invite.usedBy === undefined && invite.claims.includes(peer)
    return this.#roster.invites.find(isOf)?.invite
  }

  // writing

  #claim(code: string): void {
    const seed = parseInviteCode(code)
    const { network, self } = this.#init
    if (this.#roster.admitted.has(self)) return
    const inviteSigner = createNodeSigner(seed)
    const invite = inviteSigner.peerId
    const sig = inviteSigner.sign(claimBytes(network, { invite, peer: self }))
    this.#pendingClaim = writeClaim(network, { invite, peer: self, sig })
    this.#components.log.info('invite claimed', { invite })
    this.onChange(() => this.#putClaim())
    this.#putClaim()
  }

  #pendingClaim: Writing | undefined

  /** The claim is taken as soon as this node has heard of the invite. */
  #putClaim(): void {
    const claim = this.#pendingClaim
    if (claim === undefined || this.#requiredOwner(this.#readWriting(claim)) === '') return
    this.#pendingClaim = undefined
    this.#components.clock.after(0, () => this.#state(this.#components.signer, claim))
  }

  #readWriting({ key, valueText }: Writing): Statement | undefined {
    return readStatement(this.#init.network, key, valueText)
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
    const signer = createNodeSigner(seed)
    return this.#administrators.has(signer.peerId) ? signer : undefined
  }
}

/** Whose an entry of the bucket can only be: the administrator or the claimant that its key names. */
function ownerByKey(key: string): string {
  const [first = '', , third = ''] = key.split('/')
  return first === 'claim' ? third : first
}
