/**
 * The keys of members, and the control channels by which they come (docs/PROTOCOLS.md, 'VPN').
 *
 * A channel stands with every connected member that speaks the protocol: the smaller peer id opens it at once, the
 * greater one after a while, and whoever has packets without waiting. A key lives as long as its peer is in the
 * table, or else as long as its channel.
 */
import {
  type Backoff,
  type Clock,
  createBackoff,
  type Logger,
  type PeerId,
  type Random,
  toError,
} from '@mesh/core'
import type { VpnChannel, VpnChannels } from '../ports.ts'
import { runControlChannel } from './control-channel.ts'
import { tunnelError } from './errors.ts'
import { createKeyExchange } from './key-exchange.ts'
import { createWorkQueue } from './work-queue.ts'
import {
  CONTROL_CHANNELS_PER_PEER,
  EXCHANGE_RETRY_MS,
  HASH_BYTES,
  KEY_EXCHANGE_MS,
  MAX_CONTROL_BYTES,
  MAX_EXCHANGE_RETRY_MS,
  MAX_KEYS_OUTSIDE_TABLE,
  MAX_OWN_EXCHANGES,
  MAX_SERVED_EXCHANGES,
  SECOND_OPENER_MS,
  VPN_PROTOCOL,
} from './limits.ts'
import type { Refusal, RefusalCounter } from './refusals.ts'
import { derivePresharedKey } from './secrets.ts'

/** What a member proved. */
export interface PeerKey {
  /** WireGuard's, 32 bytes. */
  readonly publicKey: Uint8Array
  readonly presharedKey: Uint8Array
  /** The longest packet that its interface takes. */
  readonly mtu: number
  /** Unix time in milliseconds. */
  readonly since: number
}

export interface KeyChannelsInit {
  readonly self: PeerId
  readonly privateKey: Uint8Array
  readonly publicKey: Uint8Array
  /** `otp.crypto.key` of the network. */
  readonly networkKey: string
  /** The longest packet that this node's interface takes. */
  readonly mtu: number
}

export interface KeyChannelsComponents {
  readonly channels: VpnChannels
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly refusals: RefusalCounter
  /** A first key, or another one in its place; undefined: it is forgotten. */
  readonly onKey: (peer: PeerId, key: PeerKey | undefined) => void
  /** Its last control channel ended; the key stays for now. */
  readonly onLost: (peer: PeerId) => void
}

export interface KeyChannels {
  start(): Promise<void>
  keyOf(peer: PeerId): PeerKey | undefined
  /** A control channel stands. */
  isOpen(peer: PeerId): boolean
  /** Resolves when a control channel stands; rejects with `vpn.no_keys` or the signal's reason. */
  exchange(peer: PeerId, signal: AbortSignal): Promise<void>
  /** Asks for the key again, as the peer may have restarted without our noticing. */
  renew(peer: PeerId): void
  /** The peers whose keys are kept. */
  setPeers(peers: ReadonlySet<PeerId>): void
  forget(peer: PeerId): void
  stop(): void
}

interface Member {
  readonly peer: PeerId
  /** It is connected, proven, and speaks the protocol. */
  present: boolean
  key: PeerKey | undefined
  readonly channels: Set<Live>
  readonly backoff: Backoff
  opening: boolean
  cancelRetry: (() => void) | undefined
  readonly waiters: Set<PromiseWithResolvers<void>>
}

interface Live {
  readonly channel: VpnChannel
  /** By this node. */
  readonly opened: boolean
  established: { readonly publicKey: Uint8Array; readonly at: number } | undefined
}

export function createKeyChannels(init: KeyChannelsInit, components: KeyChannelsComponents): KeyChannels {
  const { self, privateKey, publicKey, networkKey, mtu } = init
  const { channels, clock, random, refusals } = components
  const log = components.log.child('keys')
  const members = new Map<PeerId, Member>()
  /** Who holds which public key, by its hex. */
  const holders = new Map<string, PeerId>()
  const stopping = new AbortController()
  let table: ReadonlySet<PeerId> = new Set()
  let served = 0
  let unwatch = () => {}

  const queue = createWorkQueue({
    concurrency: MAX_OWN_EXCHANGES,
    // only members that are connected wait here
    maxWaiting: Number.POSITIVE_INFINITY,
    run: async (peer) => {
      const member = members.get(peer)
      if (member !== undefined && !member.opening) await open(member)
    },
  })

  function memberOf(peer: PeerId): Member {
    const known = members.get(peer)
    if (known !== undefined) return known
    const limits = { leastMs: EXCHANGE_RETRY_MS, mostMs: MAX_EXCHANGE_RETRY_MS }
    const member: Member = {
      peer,
      present: false,
      key: undefined,
      channels: new Set(),
      backoff: createBackoff(limits, { clock, random }),
      opening: false,
      cancelRetry: undefined,
      waiters: new Set(),
    }
    members.set(peer, member)
    return member
  }

  function onPresence(peer: PeerId, present: boolean): void {
    const member = memberOf(peer)
    member.present = present
    if (present) member.backoff.hasten(EXCHANGE_RETRY_MS)
    settle(member)
  }

  /** After each change: begins what is due later, and forgets what is over. */
  function settle(member: Member): void {
    const { peer, present, backoff, waiters } = member
    if (stopping.signal.aborted) return
    if (member.channels.size > 0 || member.opening) return
    if (present && member.cancelRetry === undefined) {
      const waitMs = Math.max(backoff.remainingMs(), self < peer ? 0 : SECOND_OPENER_MS)
      member.cancelRetry = clock.after(waitMs, () => {
        member.cancelRetry = undefined
        if (member.present && member.channels.size === 0 && !member.opening) queue.enqueue(peer)
      })
    }
    if (present) return
    member.cancelRetry?.()
    member.cancelRetry = undefined
    queue.remove(peer)
    if (!table.has(peer)) dropKey(member)
    if (member.key === undefined && waiters.size === 0) members.delete(peer)
  }

  /** Resolves when the exchange came to its end, one way or the other. */
  async function open(member: Member): Promise<void> {
    const { peer } = member
    member.opening = true
    let channel: VpnChannel
    try {
      const options = { maxMessageBytes: MAX_CONTROL_BYTES, signal: stopping.signal }
      channel = await channels.open(peer, VPN_PROTOCOL, options)
    } catch (error) {
      member.opening = false
      return failed(member, toError(error))
    }
    member.opening = false
    if (stopping.signal.aborted) return channel.abort(tunnelError('vpn.stopped', 'the VPN stops'))
    const { promise, resolve } = Promise.withResolvers<void>()
    void run(member, { channel, opened: true, established: undefined }, resolve)
    await promise
  }

  async function serve(channel: VpnChannel): Promise<void> {
    if (stopping.signal.aborted) return channel.abort(tunnelError('vpn.stopped', 'the VPN stops'))
    if (served >= MAX_SERVED_EXCHANGES) return refuse(channel, 'key.too_many')
    served++
    let exchanging = true
    const onSettled = () => {
      if (exchanging) served--
      exchanging = false
    }
    await run(memberOf(channel.peer), { channel, opened: false, established: undefined }, onSettled)
  }

  async function run(member: Member, live: Live, onSettled: () => void): Promise<void> {
    const { peer } = member
    const { channel } = live
    member.channels.add(live)
    const isHeld = (key: Uint8Array) => (holders.get(hexOf(key)) ?? peer) !== peer
    const nonce = random.bytes(HASH_BYTES)
    const exchange = createKeyExchange({ self, peer, privateKey, publicKey, nonce, mtu, isHeld })
    const error = await runControlChannel(channel, exchange, {
      clock,
      onRefused: (code) => refusals.refuse(code, peer),
      onEstablished(key, peerMtu) {
        if (!mayHold(peer)) return refuse(channel, 'key.too_many')
        established(member, live, { publicKey: key, mtu: peerMtu })
        onSettled()
      },
    })
    member.channels.delete(live)
    onSettled()
    ended(member, live, error)
  }

  function established(member: Member, live: Live, theirs: { publicKey: Uint8Array; mtu: number }): void {
    const { peer } = member
    const now = clock.now()
    live.established = { publicKey: theirs.publicKey, at: now }
    closeRivals(member, live, now)
    const before = member.key
    if (before === undefined || !isSame(before.publicKey, theirs.publicKey) || before.mtu !== theirs.mtu) {
      dropHolder(member)
      const presharedKey = before?.presharedKey ?? derivePresharedKey(networkKey, self, peer)
      member.key = { ...theirs, presharedKey, since: now }
      holders.set(hexOf(theirs.publicKey), peer)
      log.debug('key of a peer', { peer, replaced: before !== undefined })
      components.onKey(peer, member.key)
    }
    for (const waiter of member.waiters) waiter.resolve()
  }

  /** Of two that were made at once the greater peer id closes its own; else the newer one stays. */
  function closeRivals(member: Member, live: Live, now: number): void {
    for (const rival of member.channels) {
      if (rival === live || rival.established === undefined) continue
      if (!isSame(rival.established.publicKey, live.established?.publicKey)) {
        rival.channel.abort(new Error('the peer has restarted'))
      } else if (rival.opened === live.opened || now - rival.established.at > KEY_EXCHANGE_MS) {
        void rival.channel.close()
      } else if (self > member.peer) {
        void (live.opened ? live : rival).channel.close()
      }
    }
  }

  function ended(member: Member, live: Live, error: Error | undefined): void {
    if (live.established === undefined) {
      return failed(member, error ?? new Error('the peer closed the channel'))
    }
    if (isOpen(member)) return
    // a channel that does not last is no success
    if (clock.now() - live.established.at >= KEY_EXCHANGE_MS) member.backoff.succeeded()
    else member.backoff.failed()
    components.onLost(member.peer)
    settle(member)
  }

  function failed(member: Member, error: Error): void {
    log.debug('no keys exchanged', { peer: member.peer, error: String(error) })
    member.backoff.failed()
    if (member.channels.size === 0 && !member.opening) {
      for (const waiter of member.waiters) {
        waiter.reject(tunnelError('vpn.no_keys', 'the peer did not exchange keys', error))
      }
    }
    settle(member)
  }

  function refuse(channel: VpnChannel, code: Refusal): void {
    refusals.refuse(code, channel.peer)
    channel.abort(new Error(code))
  }

  function mayHold(peer: PeerId): boolean {
    if (table.has(peer) || members.get(peer)?.key !== undefined) return true
    let outside = 0
    for (const holder of holders.values()) if (!table.has(holder)) outside++
    return outside < MAX_KEYS_OUTSIDE_TABLE
  }

  function dropHolder({ peer, key }: Member): void {
    if (key !== undefined && holders.get(hexOf(key.publicKey)) === peer) holders.delete(hexOf(key.publicKey))
  }

  function dropKey(member: Member): void {
    if (member.key === undefined) return
    dropHolder(member)
    member.key = undefined
    components.onKey(member.peer, undefined)
  }

  return {
    async start() {
      const options = { maxMessageBytes: MAX_CONTROL_BYTES, maxPerPeer: CONTROL_CHANNELS_PER_PEER }
      await channels.handle(VPN_PROTOCOL, options, serve)
      unwatch = channels.onPeerWith(VPN_PROTOCOL, onPresence)
      for (const peer of channels.peersWith(VPN_PROTOCOL)) onPresence(peer, true)
    },
    keyOf: (peer) => members.get(peer)?.key,
    isOpen: (peer) => isOpen(members.get(peer)),
    async exchange(peer, signal) {
      const member = memberOf(peer)
      if (isOpen(member)) return
      const waiter = Promise.withResolvers<void>()
      const onAbort = () => waiter.reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      member.waiters.add(waiter)
      if (!member.opening && member.channels.size === 0) {
        queue.remove(peer)
        void open(member)
      }
      try {
        if (signal.aborted) onAbort()
        await waiter.promise
      } finally {
        signal.removeEventListener('abort', onAbort)
        member.waiters.delete(waiter)
        settle(member)
      }
    },
    renew(peer) {
      if (members.get(peer)?.present === true) queue.enqueue(peer)
    },
    setPeers(peers) {
      table = peers
      for (const member of members.values()) settle(member)
    },
    forget(peer) {
      const member = members.get(peer)
      if (member === undefined) return
      dropKey(member)
      for (const { channel } of member.channels) channel.abort(new Error('the peer changed'))
      settle(member)
    },
    stop() {
      unwatch()
      stopping.abort(tunnelError('vpn.stopped', 'the VPN stops'))
      queue.stop()
      for (const member of members.values()) {
        member.cancelRetry?.()
        for (const waiter of member.waiters) waiter.reject(stopping.signal.reason)
        for (const { channel } of member.channels) channel.abort(stopping.signal.reason)
      }
    },
  }
}

function isOpen(member: Member | undefined): boolean {
  if (member === undefined) return false
  for (const live of member.channels) if (live.established !== undefined) return true
  return false
}

function isSame(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0
}

function hexOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex')
}
