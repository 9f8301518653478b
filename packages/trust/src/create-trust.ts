/**
 * Says with one function, `mayUse(peer)`, who may use the network. Administrators decide first, where the network has
 * some. Then the peer gate decides, where this node has one. Gossip asks for the signer, the ledger for the owner of an
 * entry, streams and relays for the remote peer. `onChange` applies a change at once.
 */
import { BUCKETS, type Clock, type Logger, type PeerId, type Random } from '@mesh/core'
import {
  createSigner,
  type KeyedEntry,
  type LedgerEvent,
  type PolicyTable,
  type Signer,
  type Verify,
} from '@mesh/ledger'
import { Administration } from './administration/administration.ts'
import type { CheckPolicy } from './administration/policy-statement.ts'
import { StatementSharing } from './administration/share-statements.ts'
import { type ExchangeKind, Exchanges } from './exchange/exchanges.ts'
import { PeerGate, type PeerGateInit } from './gate/peer-gate.ts'
import type { CreateGuard, Guard } from './gate/guard.ts'
import { GUARD_INTERVAL_MS, LIST_REST, TELL_DELAY_MS } from './limits.ts'
import type { PublishEntries, TrustLedger, TrustNetwork } from './ports.ts'

export interface GuardInit extends PeerGateInit {
  /** How often this node asks to be trusted, and cleans up, in ms; default 120 s. */
  readonly intervalMs?: number
  readonly autoclean: boolean
  /** How long a heartbeat lasts, in ms. */
  readonly livenessMs: number
  /** Makes the guard: what `createPeerGuard` of `@mesh/trust/node` gives. */
  readonly create: CreateGuard
}

export interface TrustInit {
  readonly self: PeerId
  /** The network's id, 20 hexadecimal digits. */
  readonly network: string
  /** The peer gate's settings; without them this node has none. */
  readonly guard?: GuardInit | undefined
  /** The public keys of the network's administrators, in the form of peer ids; none: anyone who holds the token is in. */
  readonly administrators: readonly PeerId[]
  /** The code of an invite. */
  readonly invite?: string | undefined
}

export interface TrustComponents {
  readonly signer: Signer
  /** Gives the signer of a seed; in plain JavaScript by default. */
  readonly signerOf?: (seed: Uint8Array) => Signer
  /** Checks signatures; in plain JavaScript by default. */
  readonly verify?: Verify
  readonly readAdminSeed: () => Uint8Array | undefined
  /**
   * Reads policies of access rules: `checkPolicy` of `@mesh/trust/rules`. Undefined where nobody can reach anything of this
   * program, as in a browser tab: it keeps policies and passes them on, and has no rules.
   */
  readonly checkPolicy: CheckPolicy | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The peer gate as the API shows it. */
export interface GateSwitch {
  readonly enabled: boolean
  /** True while it is on and nobody may pass: no entry of the trust zone counts, and it is not relaxed. */
  readonly isShut: boolean
  set(enabled: boolean): void
}

export function createTrust(init: TrustInit, components: TrustComponents): Trust {
  return new Trust(init, { ...components, log: components.log.child('trust') })
}

export class Trust {
  readonly administration: Administration | undefined
  readonly #init: TrustInit
  readonly #components: TrustComponents
  readonly #gate: PeerGate | undefined
  readonly #listeners = new Set<() => void>()
  #ledger: TrustLedger | undefined
  #guard: Guard | undefined
  #exchanges: Exchanges | undefined
  #cancelRead: (() => void) | undefined
  /** When the list may be read again, in ms of monotonic time. */
  #restUntilMs = 0
  #cancelTell: (() => void) | undefined
  #ends: (() => void)[] = []

  constructor(init: TrustInit, components: TrustComponents) {
    const { self, network, guard, administrators, invite } = init
    this.#init = init
    this.#components = components
    this.#gate = guard === undefined ? undefined : new PeerGate(guard, self)
    if (administrators.length > 0) {
      const about = { self, network, administrators, ...(invite !== undefined && { invite }) }
      this.administration = new Administration(about, { signerOf: createSigner, ...components })
    }
  }

  mayUse(peer: string): boolean {
    if (peer === this.#init.self) return true
    if (this.administration?.mayUse(peer) === false) return false
    return this.#gate?.mayPass(peer) ?? true
  }

  /** True for a peer that an administrator shut out. */
  isBanned(peer: string): boolean {
    return this.administration?.isRevoked(peer) ?? false
  }

  /** Calls the listener after answers may have changed; the returned function ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Tells for `LedgerComponents.admits` whose entries are taken: statements from everybody, and what members hold of a
   * peer that was shut out where its revocation says that it stays.
   */
  admits(owner: string, bucket?: string, held?: KeyedEntry): boolean {
    if (bucket === BUCKETS.admission && this.administration !== undefined) return true
    if (this.mayUse(owner)) return true
    if (held === undefined || this.administration?.keeps(held) !== true) return false
    return this.#gate?.mayPass(owner) ?? true
  }

  /** The rules of buckets of this package's. */
  get policies(): PolicyTable {
    return this.administration === undefined ? {} : { [BUCKETS.admission]: this.administration.policy }
  }

  get gate(): GateSwitch | undefined {
    const gate = this.#gate
    if (gate === undefined) return undefined
    return {
      enabled: gate.enabled,
      isShut: gate.isShut,
      set: (enabled) => {
        if (gate.enabled === enabled) return
        gate.enabled = enabled
        this.#components.log.info('peer gate switched', { enabled })
        this.#changed()
      },
    }
  }

  /** Gives the peers that are here, hold the network's key, and are kept out. */
  waiting(): readonly PeerId[] {
    const present = this.#exchanges?.present() ?? []
    return present.filter((peer) => !this.mayUse(peer) && !this.isBanned(peer))
  }

  /** Begins to follow the ledger. @throws MeshError `trust.needs_enforce`, `trust.bad_invite` */
  attachLedger(ledger: TrustLedger): void {
    this.#ledger = ledger
    this.#gate?.read(ledger)
    this.#ends.push(ledger.subscribe((event) => this.#hear(event)))
    this.administration?.onChange(() => this.#changed())
    this.administration?.attach(ledger)
  }

  /** Begins to talk with peers. */
  async start(network: TrustNetwork, publish: PublishEntries): Promise<void> {
    const ledger = this.#ledger
    if (ledger === undefined || (this.#gate === undefined && this.administration === undefined)) return
    const { clock, random, log } = this.#components
    const sharing = this.#createSharing(ledger, publish)
    const guard = this.#createGuard(ledger, network)
    const kinds = guard === undefined ? sharing : [...sharing, guard]
    this.#exchanges = new Exchanges({ channels: network.channels, kinds, clock, random, log })
    await this.#exchanges.start()
    guard?.start()
    this.administration?.connect(publish)
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end()
    this.#cancelTell?.()
    this.#cancelRead?.()
    this.#guard?.stop()
    this.#exchanges?.stop()
    this.administration?.stop()
    this.#listeners.clear()
  }

  #createSharing(ledger: TrustLedger, publish: PublishEntries): readonly ExchangeKind[] {
    const { administration } = this
    if (administration === undefined) return []
    const mayUse = (peer: string) => this.mayUse(peer)
    const isConfirmed = () => administration.roster.admitted.has(this.#init.self)
    const { log, clock } = this.#components
    return [new StatementSharing({ ledger, mayUse, isConfirmed, publish, log, clock })]
  }

  #createGuard(ledger: TrustLedger, network: TrustNetwork): Guard | undefined {
    const { guard, self, network: id } = this.#init
    const gate = this.#gate
    if (guard === undefined || gate === undefined) return undefined
    const { intervalMs = GUARD_INTERVAL_MS, autoclean, livenessMs, strict } = guard
    this.#guard = guard.create(
      { self, network: id, intervalMs, autoclean, livenessMs, strict },
      { ...this.#components, ledger, network, isListed: (peer) => gate.isListed(peer) },
    )
    return this.#guard
  }

  #hear(event: LedgerEvent): void {
    if (event.type !== 'committed') return
    const touches = (wanted: string) => event.changes.some(({ bucket }) => bucket === wanted)
    if (this.#gate !== undefined && touches(BUCKETS.trustzone)) this.#readSoon()
    else if (touches(BUCKETS.trustzoneAuth)) this.#lookSoon()
  }

  /** Reads the list anew: at once, or where reading it took long when some times as long has gone by. */
  #readSoon(): void {
    const { clock } = this.#components
    const waitMs = this.#restUntilMs - clock.monotonic()
    if (waitMs <= 0) this.#read()
    else this.#cancelRead ??= clock.after(waitMs, () => this.#read())
  }

  #read(): void {
    const { clock } = this.#components
    this.#cancelRead = undefined
    const beganMs = clock.monotonic()
    if (this.#ledger !== undefined) this.#gate?.read(this.#ledger)
    const endMs = clock.monotonic()
    this.#restUntilMs = endMs + LIST_REST * (endMs - beganMs)
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
    this.#ledger?.admissionChanged()
    this.#lookSoon()
  }

  #lookSoon(): void {
    this.#cancelTell ??= this.#components.clock.after(TELL_DELAY_MS, () => {
      this.#cancelTell = undefined
      this.#exchanges?.lookAtAll()
      this.#guard?.challenge()
    })
  }
}
