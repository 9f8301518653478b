/**
 * Lets the relay carry circuits to each peer to which it has a direct connection. The connection gate decides whether both
 * ends are members.
 *
 * @library @libp2p/circuit-relay-v2 4.2.13
 * @wraps `reservationStore.get` of the relay
 * @without A browser tab reaches only the members that reserved a place at its node, which those do that dialled it: the
 * library refuses circuits to all others.
 * @shown `packages/p2p/test/browser-tab.test.ts`
 */
import type { PeerId } from '@libp2p/interface'
import { openInner } from '../inner-names.ts'

const LIBRARY = '@libp2p/circuit-relay-v2 4.2.13'

/** One reservation as the library keeps it, as far as it reads it for a circuit. */
interface Reservation {
  /** Aborts when the reservation ends, which ends its circuits. */
  readonly signal: AbortSignal
  readonly limit: { readonly duration: number; readonly data: bigint }
}

interface ReservationStore {
  get(peer: PeerId): Reservation | undefined
}

interface StandingInit {
  readonly isConnected: (peer: PeerId) => boolean
  /** The bounds of one circuit, in ms and bytes. */
  readonly limits: { readonly maxDurationMs: number; readonly maxBytes: number }
}

/** Changes a relay that has not started yet. @throws MeshError `p2p.incompatible_library` */
export function relayToConnected<T>(relay: T, { isConnected, limits }: StandingInit): T {
  const { reservationStore } = openInner<{ reservationStore: object }>(LIBRARY, relay, ['reservationStore'])
  const store = openInner<ReservationStore>(LIBRARY, reservationStore, ['get'])
  const get = store.get.bind(store)
  const limit = { duration: limits.maxDurationMs, data: BigInt(limits.maxBytes) }
  store.get = (peer) =>
    get(peer) ?? (isConnected(peer) ? { signal: new AbortController().signal, limit } : undefined)
  return relay
}
