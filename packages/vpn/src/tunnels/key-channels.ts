/**
 * The keys of members, and the control channels that bring them (docs/PROTOCOLS.md, 'VPN').
 *
 * Each connected member that speaks the protocol has one channel. The smaller peer id opens it at once, the greater one after
 * a while, and a node with waiting packets immediately. A key lives as long as its peer is in the table, or as long as
 * its channel.
 */
import { type PeerId, toError, untilAborted } from '@mesh/core'
import { createBackoff, loopBudget, Scope } from '@mesh/core/limits'
import type { VpnChannel, VpnChannels } from '../ports.ts'
import { runControlChannel } from './control-channel.ts'
import { tunnelError } from '../streams/tunnel-error.ts'
import type { PathsMessage } from '../wire/control-message.ts'
import { createKeyExchange } from './key-exchange.ts'
import { KeyMember, type LiveChannel } from './key-member.ts'
import { isSameKey, KeyRegistry, type PeerKey } from './key-registry.ts'
import {
  CONTROL_CHANNELS_PER_PEER,
  EXCHANGE_RETRY,
  KEY_EXCHANGE_MS,
  MAX_CONTROL_BYTES,
  MAX_OWN_EXCHANGES,
  SECOND_OPENER_MS,
  SERVED_EXCHANGES,
} from './limits.ts'
import { HASH_BYTES, VPN_PROTOCOL } from '../wire/limits.ts'
import type { Refusal, RefusalCounter } from '../streams/refusals.ts'
import { derivePresharedKey } from '../keys/secrets.ts'
import { createWorkQueue } from './work-queue.ts'
import type { VpnComponents } from '../vpn.ts'

interface KeyChannelsInit {
  readonly self: PeerId
  /** This node's WireGuard key, 32 bytes. */
  readonly privateKey: Uint8Array
  readonly publicKey: Uint8Array
  /** `otp.crypto.key` of the network. */
  readonly networkKey: string
  /** The longest packet that this node's interface takes, in bytes. */
  readonly mtu: number
}

interface KeyChannelsComponents extends Pick<VpnComponents, 'clock' | 'random' | 'log'> {
  readonly channels: VpnChannels
  readonly refusals: RefusalCounter
  /** Called with a first key, or another one in its place; undefined: it is forgotten. */
  readonly onKey: (peer: PeerId, key: PeerKey | undefined) => void
  /** Called when a control channel stands, also beside another. */
  readonly onOpen: (peer: PeerId) => void
  /** Called when the peer told how its socket can be reached. */
  readonly onPaths: (peer: PeerId, paths: PathsMessage) => void
  /** Called when the peer's last control channel ended; the key stays for now. */
  readonly onLost: (peer: PeerId) => void
}

export class KeyChannels {
  readonly #init: KeyChannelsInit
  readonly #components: KeyChannelsComponents
  readonly #members = new Map<PeerId, KeyMember>()
  readonly #keys = new KeyRegistry()
  readonly #stopping = new AbortController()
  readonly #queue = createWorkQueue({
    concurrency: MAX_OWN_EXCHANGES,
    // only members that are connected wait here
    maxWaiting: Number.POSITIVE_INFINITY,
    run: async (peer) => {
      const member = this.#members.get(peer)
      if (member !== undefined && !member.opening) await this.#open(member)
    },
  })
  readonly #served = new Scope(SERVED_EXCHANGES)
  #unwatch = () => {}

  constructor(init: KeyChannelsInit, components: KeyChannelsComponents) {
    this.#init = init
    this.#components = { ...components, log: components.log.child('keys') }
  }

  async start(): Promise<void> {
    const { channels } = this.#components
    const options = { maxMessageBytes: MAX_CONTROL_BYTES, maxPerPeer: CONTROL_CHANNELS_PER_PEER }
    await channels.handle(VPN_PROTOCOL, options, (channel) => this.#serve(channel))
    this.#unwatch = channels.onPeerWith(VPN_PROTOCOL, (peer, present) => this.#onPresence(peer, present))
    for (const peer of channels.peersWith(VPN_PROTOCOL)) this.#onPresence(peer, true)
  }

  keyOf(peer: PeerId): PeerKey | undefined {
    return this.#keys.keyOf(peer)
  }

  /** Gives the channels of a member, and the paths that it told last. */
  memberOf(peer: PeerId): KeyMember | undefined {
    return this.#members.get(peer)
  }

  /** Resolves when a control channel stands; rejects with `vpn.no_keys` or the signal's reason. */
  async exchange(peer: PeerId, signal: AbortSignal): Promise<void> {
    const member = this.#memberFor(peer)
    if (member.isOpen) return
    const waiter = Promise.withResolvers<void>()
    member.waiters.add(waiter)
    if (member.isIdle) {
      this.#queue.remove(peer)
      void this.#open(member)
    }
    try {
      await untilAborted(waiter.promise, signal)
    } finally {
      member.waiters.delete(waiter)
      this.#advance(member)
    }
  }

  /** Asks for the key again, as the peer may have restarted without our noticing. */
  renew(peer: PeerId): void {
    if (this.#members.get(peer)?.present === true) this.#queue.enqueue(peer)
  }

  /** Names the peers whose keys are kept. */
  setPeers(peers: ReadonlySet<PeerId>): void {
    this.#keys.setTable(peers)
    for (const member of this.#members.values()) this.#advance(member)
  }

  /** Forgets the peer's key and ends its channels. */
  forget(peer: PeerId): void {
    const member = this.#members.get(peer)
    if (member === undefined) return
    this.#dropKey(peer)
    for (const { channel } of member.channels) channel.abort(new Error('the peer changed'))
    this.#advance(member)
  }

  stop(): void {
    this.#unwatch()
    const reason = tunnelError('vpn.stopped', 'the VPN stops')
    this.#stopping.abort(reason)
    this.#queue.stop()
    for (const member of this.#members.values()) {
      member.stopRetrying()
      for (const waiter of member.waiters) waiter.reject(reason)
      for (const { channel } of member.channels) channel.abort(reason)
    }
  }

  #memberFor(peer: PeerId): KeyMember {
    const known = this.#members.get(peer)
    if (known !== undefined) return known
    const member = new KeyMember(peer, createBackoff(EXCHANGE_RETRY, this.#components))
    this.#members.set(peer, member)
    return member
  }

  #onPresence(peer: PeerId, present: boolean): void {
    const member = this.#memberFor(peer)
    member.present = present
    if (present) member.backoff.hasten(EXCHANGE_RETRY.leastMs)
    this.#advance(member)
  }

  /** Must be called after each change: begins what is due later, and forgets what is over. */
  #advance(member: KeyMember): void {
    if (this.#stopping.signal.aborted || !member.isIdle) return
    if (member.present) return this.#openLater(member)
    const { peer, waiters } = member
    member.stopRetrying()
    this.#queue.remove(peer)
    if (!this.#keys.isInTable(peer)) this.#dropKey(peer)
    if (this.#keys.keyOf(peer) === undefined && waiters.size === 0) this.#members.delete(peer)
  }

  #openLater(member: KeyMember): void {
    const { peer, backoff } = member
    const waitMs = Math.max(backoff.remainingMs(), this.#init.self < peer ? 0 : SECOND_OPENER_MS)
    member.cancelRetry ??= this.#components.clock.after(waitMs, () => {
      member.cancelRetry = undefined
      if (member.present && member.isIdle) this.#queue.enqueue(peer)
    })
  }

  /** Resolves when the exchange came to its end, whatever that is. */
  async #open(member: KeyMember): Promise<void> {
    const { signal } = this.#stopping
    member.opening = true
    let channel: VpnChannel
    try {
      const options = { maxMessageBytes: MAX_CONTROL_BYTES, signal }
      channel = await this.#components.channels.open(member.peer, VPN_PROTOCOL, options)
    } catch (error) {
      member.opening = false
      return this.#failed(member, toError(error))
    }
    member.opening = false
    if (signal.aborted) return channel.abort(toError(signal.reason))
    const { promise, resolve } = Promise.withResolvers<void>()
    void this.#run(member, { channel, opened: true, established: undefined }, resolve)
    await promise
  }

  async #serve(channel: VpnChannel): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return channel.abort(toError(signal.reason))
    const { peer, address = peer } = channel
    const place = this.#served.reserve({ peer, address })
    if (place === undefined) return this.#refuse(channel, 'key.too_many')
    const live: LiveChannel = { channel, opened: false, established: undefined }
    await this.#run(this.#memberFor(peer), live, () => place.release())
  }

  /** Resolves when the channel has ended; `onExchanged` is called when the exchange on it has, perhaps twice. */
  async #run(member: KeyMember, live: LiveChannel, onExchanged: () => void): Promise<void> {
    const { peer } = member
    const { channel } = live
    const { clock, random, refusals } = this.#components
    member.channels.add(live)
    const isHeld = (key: Uint8Array) => this.#keys.isHeldByAnother(peer, key)
    const exchange = createKeyExchange({ ...this.#init, peer, nonce: random.bytes(HASH_BYTES), isHeld })
    const error = await runControlChannel(channel, exchange, {
      clock,
      budget: loopBudget(clock),
      signal: this.#stopping.signal,
      onRefused: (code) => refusals.refuse(code, peer),
      onPaths: (paths) => {
        member.paths = paths
        this.#components.onPaths(peer, paths)
      },
      onEstablished: (publicKey, mtu) => {
        if (!this.#keys.mayHold(peer)) return this.#refuse(channel, 'key.too_many')
        this.#established(member, live, { publicKey, mtu })
        onExchanged()
      },
    })
    member.channels.delete(live)
    onExchanged()
    this.#ended(member, live, error)
  }

  #established(member: KeyMember, live: LiveChannel, theirs: { publicKey: Uint8Array; mtu: number }): void {
    const { peer } = member
    const { self, networkKey } = this.#init
    const { clock } = this.#components
    const now = clock.monotonic()
    live.established = { publicKey: theirs.publicKey, at: now }
    member.closeRivals(live, self, now)
    const before = this.#keys.keyOf(peer)
    if (before === undefined || !isSameKey(before.publicKey, theirs.publicKey) || before.mtu !== theirs.mtu) {
      const presharedKey = before?.presharedKey ?? derivePresharedKey(networkKey, self, peer)
      const key = { ...theirs, presharedKey, since: clock.now() }
      this.#keys.set(peer, key)
      this.#components.log.debug('key of a peer', { peer, replaced: before !== undefined })
      this.#components.onKey(peer, key)
    }
    for (const waiter of member.waiters) waiter.resolve()
    this.#components.onOpen(peer)
  }

  #ended(member: KeyMember, live: LiveChannel, error: Error | undefined): void {
    if (live.established === undefined) {
      return this.#failed(member, error ?? new Error('the peer closed the channel'))
    }
    if (member.isOpen) return
    // a channel that does not last is no success
    if (this.#components.clock.monotonic() - live.established.at >= KEY_EXCHANGE_MS)
      member.backoff.succeeded()
    else member.backoff.failed()
    this.#components.onLost(member.peer)
    this.#advance(member)
  }

  #failed(member: KeyMember, error: Error): void {
    this.#components.log.debug('no keys exchanged', { peer: member.peer, error: String(error) })
    member.backoff.failed()
    if (member.isIdle) {
      for (const waiter of member.waiters) {
        waiter.reject(tunnelError('vpn.no_keys', 'the peer did not exchange keys', error))
      }
    }
    this.#advance(member)
  }

  #refuse(channel: VpnChannel, code: Refusal): void {
    this.#components.refusals.refuse(code, channel.peer)
    channel.abort(new Error(code))
  }

  #dropKey(peer: PeerId): void {
    if (this.#keys.delete(peer)) this.#components.onKey(peer, undefined)
  }
}
