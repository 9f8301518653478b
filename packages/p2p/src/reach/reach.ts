/**
 * Everything that dials goes through here: one dialler, one set of rules. Unasked, a peer that only a relay leads to
 * waits for room (unasked-relays.ts); asked for, it is connected at once.
 */
import type { Connection } from '@libp2p/interface'
import { delay } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Find } from '../discovery/find.ts'
import { createDialler, NeedsRelayError } from './dialler.ts'
import type { DiscoveryMethod } from '../discovery/discovery-methods.ts'
import { ASKED_RELAY_STAGGER_MS, CONNECT_RETRY_MS, UNASKED_SPREAD_MS } from '../limits.ts'
import type { AddressRules } from '../addresses/address-rules.ts'
import { relayOf } from '../addresses/relayed-address.ts'
import { oneForEachRelay } from '../addresses/announced-addresses.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import type { P2pComponents } from '../p2p-components.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import { raceDial } from './race-dial.ts'
import type { UnaskedRelays } from './unasked-relays.ts'

export interface Reach {
  found(way: DiscoveryMethod, find: Find): void
  /** A member that went: dialled again where it was last known to be. */
  lost(peer: string): void
  /** There may be room for one more relayed connection that nobody asked for. */
  relayFree(): void
  /**
   * A connection now, wherever the peer was ever heard of to be; a second try follows a first that failed. Resolves
   * when one stands, direct or relayed.
   */
  connect(peer: string, signal: AbortSignal): Promise<void>
  dialOne(address: Multiaddr, signal: AbortSignal): Promise<Connection>
  stop(): void
}

export function createReach(
  parts: {
    readonly host: MeshHost
    readonly rules: AddressRules
    readonly book: PeerBook
    readonly unasked: UnaskedRelays
    readonly self: string
    readonly onError: (peer: string, error: unknown) => void
  },
  components: P2pComponents,
): Reach {
  const { host, rules, book, unasked, self } = parts
  const { clock, random } = components
  const { transportManager, connectionManager } = host.services.parts.components
  const asked = new Map<string, Promise<void>>()
  const stopped = new AbortController()
  const isConnected = (peer: string) => connectionsTo(host, peer).length > 0
  const canDial = (address: Multiaddr) =>
    !rules.isBlocked(address) &&
    (isDnsaddr(address) || transportManager.dialTransportForMultiaddr(address) !== undefined)

  async function dialOne(address: Multiaddr, signal: AbortSignal): Promise<Connection> {
    if (rules.isBlocked(address)) throw new Error('lies in a blocked range')
    // names that stand for several addresses are resolved by libp2p's own dialler
    if (isDnsaddr(address)) return await connectionManager.openConnection(address, { signal })
    return await transportManager.dial(address, { signal })
  }

  /** The ones that this node can use; of each relay one. */
  function ways(peer: string, addresses: readonly Multiaddr[]) {
    const usable = addresses.filter((address) => canDial(address) && !isWebRtc(address))
    const direct = usable.filter((address) => relayOf(address) === undefined)
    return { direct: direct.map(withPeer(peer)), relayed: oneForEachRelay(usable).map(withPeer(peer)) }
  }

  async function dialUnasked(
    peer: string,
    { addresses, kind }: Required<Pick<Find, 'addresses' | 'kind'>>,
    signal: AbortSignal,
  ): Promise<void> {
    const { direct, relayed } = ways(peer, addresses)
    let refused = false
    try {
      await raceDial([...direct, ...relayed], {
        clock,
        signal,
        async dialOne(address, own) {
          // what a person configured is asked for
          if (relayOf(address) === undefined || kind === 'configured') return await dialOne(address, own)
          // all hear of the same peers at once, in the same order
          await delay(clock, random.float() * UNASKED_SPREAD_MS, own)
          if (unasked.take(peer)) return await dialOne(address, own)
          refused = true
          throw new Error('a relayed connection has to wait')
        },
      })
    } catch (error) {
      throw refused ? new NeedsRelayError(unasked.restsUntil(peer)) : error
    } finally {
      unasked.dialled(peer)
    }
  }

  async function dialAsked(peer: string): Promise<void> {
    const { direct, relayed } = ways(peer, book.addressesOf(peer))
    const init = { dialOne, clock, signal: stopped.signal }
    // goes on when the relayed one is first
    const straight = raceDial(direct, init)
    const headStart = Promise.race([straight.catch(() => {}), delay(clock, ASKED_RELAY_STAGGER_MS)])
    const around = headStart.then(() => (isConnected(peer) ? straight : raceDial(relayed, init)))
    await Promise.any([straight, around])
  }

  async function connectTwice(peer: string): Promise<void> {
    try {
      return await dialAsked(peer)
    } catch {
      await delay(clock, CONNECT_RETRY_MS, stopped.signal)
      if (!isConnected(peer)) await dialAsked(peer)
    }
  }

  function connect(peer: string, signal: AbortSignal): Promise<void> {
    unasked.asked(peer)
    let dial = asked.get(peer)
    if (dial === undefined) {
      dial = connectTwice(peer).finally(() => asked.delete(peer))
      asked.set(peer, dial)
    }
    return untilAborted(dial, signal)
  }

  const dialler = createDialler(
    { self, isConnected, dial: dialUnasked, takeRelay: unasked.take, onError: parts.onError },
    components,
  )
  return {
    found(way, find) {
      way.found(find.peer)
      const addresses = find.addresses.filter((address) => !rules.isBlocked(address))
      if (addresses.length > 0) {
        book.noteFound(find.peer, addresses)
        dialler.found({ ...find, addresses })
      } else if (find.addresses.length > 0)
        parts.onError(find.peer, new Error('every address lies in a range that is kept out'))
    },
    lost(peer) {
      dialler.found({ peer, addresses: book.addressesOf(peer), kind: 'member' })
    },
    relayFree: dialler.relayFree,
    connect,
    dialOne,
    stop() {
      stopped.abort(new Error('stopped'))
      dialler.stop()
    },
  }
}

const isDnsaddr = (address: Multiaddr) => address.getComponents()[0]?.name === 'dnsaddr'
/** WebRTC needs a relayed connection first; the upgrade makes it. */
const isWebRtc = (address: Multiaddr) => address.getComponents().some(({ name }) => name === 'webrtc')

/** The transport checks who answers only when the address says who should. */
const withPeer = (peer: string) => (address: Multiaddr) =>
  address.getComponents().at(-1)?.name === 'p2p' ? address : address.encapsulate(`/p2p/${peer}`)

/** What others wait for too goes on. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
