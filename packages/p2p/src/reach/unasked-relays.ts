/**
 * Keeps relayed connections that nobody asked for few. Two members that only a relay joins are connected over it so
 * that they can find a direct way (direct-upgrade.ts). In a star whose leaves reach nothing but the hub no such way
 * exists, and all pairs at once would take all of the hub's time: twenty leaves, half a minute. So:
 * 1. one is tried at a time; each that becomes direct doubles that, up to a bound
 * 2. one that does not makes the next one wait, longer each time, and its peer rest much longer
 * 3. it stays until another peer wants its room, or somebody else's dials took more than there is; the oldest one
 *    that nobody uses goes first
 * What somebody asks for, by opening a channel, is never kept waiting and never closed (reach.ts). Gossip and the
 * ledger need none of them: whoever relays is a member, on the topic, and connected to both.
 */
import type { Connection, Libp2p } from '@libp2p/interface'
import type { Clock, Logger } from '@mesh/core'
import {
  ASKED_FOR_MS,
  MAX_KNOWN_PEERS,
  MAX_UNASKED_RELAYED,
  UNASKED_PACE_MAX_MS,
  UNASKED_PACE_MIN_MS,
  UNASKED_REST_MAX_MS,
  UNASKED_REST_MIN_MS,
  UNASKED_TRY_MS,
} from '../limits.ts'
import { MEMBER_PROTOCOL, OWN_PROTOCOL_PREFIX, PEERS_PROTOCOL } from '../protocols.ts'
import { connectionsTo } from '../libp2p/connections.ts'

export interface UnaskedRelays {
  /** Room for a relayed connection to the peer: held until `dialled`, then by the connection. False: not now. */
  take(peer: string): boolean
  /** The dial ended, either way. */
  dialled(peer: string): void
  /** Somebody wants a connection to the peer: it counts no more, and stays. */
  asked(peer: string): void
  isAsked(peer: string): boolean
  /** No direct way was found. */
  upgradeFailed(peer: string): void
  /** Unix ms until which the peer is not dialled over a relay unasked. */
  restsUntil(peer: string): number
  stop(): void
}

export interface UnaskedRelaysInit {
  readonly host: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>
  /** There may be room again. */
  readonly onFree: () => void
}

/** A peer that is connected over relays alone. */
interface Relayed {
  readonly since: number
  /** Did not become direct. */
  failed: boolean
  readonly cancel: () => void
}

export function createUnaskedRelays(
  init: UnaskedRelaysInit,
  components: { readonly clock: Clock; readonly logger: Logger },
): UnaskedRelays {
  const { host } = init
  const { clock } = components
  const log = components.logger.child('relay')
  const relayed = new Map<string, Relayed>()
  const dialling = new Set<string>()
  const askedAt = new Map<string, number>()
  const rests = new Map<string, { until: number; times: number }>()
  /** Tried at a time. */
  let parallel = 1
  let failures = 0
  /** Unix ms. */
  let next = 0
  let cancelFree: (() => void) | undefined

  const isAsked = (peer: string) =>
    (askedAt.get(peer) ?? Number.NEGATIVE_INFINITY) > clock.now() - ASKED_FOR_MS
  const isUsed = (peer: string) =>
    connectionsTo(host, peer).some(({ streams }) => streams.some(({ protocol }) => isUse(protocol)))

  const unasked = () => [...relayed].filter(([peer]) => !isAsked(peer))
  /** The one that goes when another peer wants its room. */
  const oldestFailed = () =>
    unasked()
      .filter(([peer, { failed }]) => failed && !isUsed(peer))
      .sort(([, a], [, b]) => a.since - b.since)[0]?.[0]

  function take(peer: string): boolean {
    if (dialling.has(peer)) return true
    if (clock.now() < Math.max(next, restsUntil(peer))) return false
    const held = unasked()
    if (dialling.size + held.filter(([, { failed }]) => !failed).length >= parallel) return false
    if (dialling.size + held.length >= MAX_UNASKED_RELAYED) {
      const goes = oldestFailed()
      if (goes === undefined) return false
      close(goes)
    }
    dialling.add(peer)
    return true
  }

  function close(peer: string): void {
    log.debug('relayed connection makes room for another', { peer })
    for (const connection of connectionsTo(host, peer)) {
      connection.close().catch((error: unknown) => connection.abort(toError(error)))
    }
  }

  function restsUntil(peer: string): number {
    return rests.get(peer)?.until ?? 0
  }

  function rest(peer: string): void {
    const times = rests.get(peer)?.times ?? 0
    const ms = Math.min(UNASKED_REST_MAX_MS, UNASKED_REST_MIN_MS * 2 ** times)
    rests.delete(peer)
    rests.set(peer, { until: clock.now() + ms, times: times + 1 })
    const [oldest] = rests.keys()
    if (rests.size > MAX_KNOWN_PEERS && oldest !== undefined) rests.delete(oldest)
  }

  function fail(peer: string): void {
    const state = relayed.get(peer)
    if (state === undefined || state.failed) return
    state.cancel()
    state.failed = true
    rest(peer)
    const surplus = unasked().length > MAX_UNASKED_RELAYED ? oldestFailed() : undefined
    if (surplus !== undefined) close(surplus)
    parallel = 1
    // several that fail together are one sign
    if (clock.now() >= next) {
      next = clock.now() + Math.min(UNASKED_PACE_MAX_MS, UNASKED_PACE_MIN_MS * 2 ** failures)
      failures++
    }
    freeAt(next)
  }

  function succeed(peer: string): void {
    forget(peer)
    rests.delete(peer)
    parallel = Math.min(MAX_UNASKED_RELAYED, 2 * parallel)
    failures = 0
    next = 0
    freeAt(0)
  }

  function forget(peer: string): void {
    relayed.get(peer)?.cancel()
    relayed.delete(peer)
  }

  function freeAt(time: number): void {
    cancelFree?.()
    cancelFree = clock.after(Math.max(0, time - clock.now()), () => {
      cancelFree = undefined
      init.onFree()
    })
  }

  const onOpen = ({ detail }: CustomEvent<Connection>) => {
    const peer = detail.remotePeer.toString()
    if (detail.direct) {
      if (relayed.has(peer)) succeed(peer)
    } else if (!relayed.has(peer) && connectionsTo(host, peer).every(({ direct }) => !direct)) {
      const cancel = clock.after(UNASKED_TRY_MS, () => fail(peer))
      relayed.set(peer, { since: clock.now(), failed: false, cancel })
    }
  }
  const onClose = ({ detail }: CustomEvent<Connection>) => {
    const peer = detail.remotePeer.toString()
    if (!relayed.has(peer) || connectionsTo(host, peer).length > 0) return
    // the other end saw it fail and had a better use for its room
    if (!isAsked(peer)) fail(peer)
    forget(peer)
    freeAt(next)
  }
  host.addEventListener('connection:open', onOpen)
  host.addEventListener('connection:close', onClose)

  return {
    take,
    dialled(peer) {
      if (dialling.delete(peer)) freeAt(next)
    },
    asked(peer) {
      askedAt.delete(peer)
      askedAt.set(peer, clock.now())
      const [oldest] = askedAt.keys()
      if (askedAt.size > MAX_KNOWN_PEERS && oldest !== undefined) askedAt.delete(oldest)
    },
    isAsked,
    upgradeFailed: fail,
    restsUntil,
    stop() {
      host.removeEventListener('connection:open', onOpen)
      host.removeEventListener('connection:close', onClose)
      cancelFree?.()
      for (const peer of relayed.keys()) forget(peer)
    },
  }
}

/** More than what every connection carries by itself. */
function isUse(protocol: string): boolean {
  if (protocol === PEERS_PROTOCOL || protocol === MEMBER_PROTOCOL) return false
  return protocol.startsWith(OWN_PROTOCOL_PREFIX)
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
