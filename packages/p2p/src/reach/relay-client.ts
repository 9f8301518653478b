/**
 * Keeps reservations on up to two members that relay, so that others reach this node behind its NAT. A relay is a
 * member that we dialled: whoever dials us may be behind a NAT itself.
 */
import type { Connection } from '@libp2p/interface'
import type { Clock, Logger } from '@mesh/core'
import { multiaddr } from '@multiformats/multiaddr'
import { RELAYS_WANTED } from '../limits.ts'
import { ipOf, isLoopbackIp } from '../addresses/address-rules.ts'
import { relayOf } from '../addresses/relayed-address.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { RELAY_HOP_PROTOCOL } from '../protocols.ts'

export interface RelayClientInit {
  readonly host: MeshHost
  readonly isMember: (peer: string) => boolean
  readonly speaks: (peer: string, protocol: string) => boolean
  /** Relays over loopback help nobody; tests want them. Default false. */
  readonly allowLoopback?: boolean
}

export interface RelayClient {
  /** Looks again whether a relay is missing: after a member appeared or a connection changed. */
  check(): void
  /** Peers on which a reservation stands. */
  relays(): readonly string[]
  stop(): void
}

const CHECK_DELAY_MS = 100
/** After a refused reservation. */
const RETRY_MS = 120_000

export function startRelayClient(
  init: RelayClientInit,
  components: { readonly clock: Clock; readonly logger: Logger },
): RelayClient {
  const { host, isMember, speaks, allowLoopback = false } = init
  const { clock } = components
  const log = components.logger.child('relay')
  const { transportManager } = host.services.parts.components
  const refusedAt = new Map<string, number>()
  let cancel: (() => void) | undefined
  let stopped = false
  let reserving = false

  const relays = () => [...new Set(transportManager.getAddrs().flatMap((address) => relayOf(address) ?? []))]

  function candidates(): readonly string[] {
    const held = relays()
    const now = clock.now()
    return host
      .getConnections()
      .filter((connection) => isUsable(connection, allowLoopback))
      .map(({ remotePeer }) => remotePeer.toString())
      .filter(
        (peer) =>
          !held.includes(peer) &&
          isMember(peer) &&
          speaks(peer, RELAY_HOP_PROTOCOL) &&
          now - (refusedAt.get(peer) ?? Number.NEGATIVE_INFINITY) > RETRY_MS,
      )
  }

  async function reserve(): Promise<void> {
    if (reserving || stopped || relays().length >= RELAYS_WANTED) return
    const peer = candidates()[0]
    if (peer === undefined) return
    reserving = true
    try {
      await transportManager.listen([multiaddr(`/p2p/${peer}/p2p-circuit`)])
      log.debug('relay reserved', { peer })
    } catch (error) {
      refusedAt.set(peer, clock.now())
      log.debug('relay not reserved', { peer, reason: String(error) })
    } finally {
      reserving = false
    }
    check()
  }

  function check(): void {
    if (stopped) return
    cancel?.()
    cancel = clock.after(CHECK_DELAY_MS, () => void reserve())
  }

  const onChange = () => check()
  host.addEventListener('peer:identify', onChange)
  host.addEventListener('connection:close', onChange)
  check()
  return {
    check,
    relays,
    stop() {
      stopped = true
      cancel?.()
      host.removeEventListener('peer:identify', onChange)
      host.removeEventListener('connection:close', onChange)
    },
  }
}

function isUsable({ direct, direction, status, remoteAddr }: Connection, allowLoopback: boolean): boolean {
  if (!direct || direction !== 'outbound' || status !== 'open') return false
  // reached over a relay itself: others could not
  if (relayOf(remoteAddr) !== undefined) return false
  const ip = ipOf(remoteAddr)
  return allowLoopback || (ip !== undefined && !isLoopbackIp(ip))
}
