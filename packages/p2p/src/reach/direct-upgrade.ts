/**
 * Makes relayed connections direct: dials the peer's own addresses again, then WebRTC with the relay for signalling.
 * Where the NATs do not allow it the relayed connection stays, its peer's status says so, and it is tried again later.
 * A few are tried at a time, in the order in which they came.
 */
import type { Connection } from '@libp2p/interface'
import type { Clock, Logger } from '@mesh/core'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { MAX_PARALLEL_UPGRADES, RELAYED_GRACE_MS, UPGRADE_RETRY_MS, UPGRADE_TIMEOUT_MS } from '../limits.ts'
import { isRelayed } from '../addresses/address-rules.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import { raceDial } from './race-dial.ts'

export interface DirectUpgradeInit {
  readonly host: MeshHost
  /** Last known addresses of a peer. */
  readonly addressesOf: (peer: string) => readonly Multiaddr[]
  readonly dialOne: (address: Multiaddr, signal: AbortSignal) => Promise<Connection>
  /** Somebody waits for a connection to the peer: its turn comes before the others'. */
  readonly isAsked: (peer: string) => boolean
  readonly onFailed: (peer: string, words: string) => void
}

/** The greater id gives the smaller one's tries this much time. */
const GREATER_ID_OFFSET_MS = 5_000

/** @returns stops it */
export function startDirectUpgrade(
  init: DirectUpgradeInit,
  components: { readonly clock: Clock; readonly logger: Logger },
): () => void {
  const { host } = init
  const { clock } = components
  const log = components.logger.child('upgrade')
  const self = host.peerId.toString()
  const waiting = new Map<string, () => void>()
  /** Peers whose time has come, with the tries before. */
  const due = new Map<string, number>()
  let running = 0
  const stopped = new AbortController()

  const isDirect = (peer: string) => connectionsTo(host, peer)[0]?.direct === true

  function plan(peer: string, tries: number): void {
    const wait = UPGRADE_RETRY_MS[Math.min(tries, UPGRADE_RETRY_MS.length - 1)] ?? 0
    waiting.get(peer)?.()
    waiting.set(
      peer,
      clock.after(wait + (self < peer ? 0 : GREATER_ID_OFFSET_MS), () => {
        waiting.delete(peer)
        due.set(peer, tries)
        work()
      }),
    )
  }

  function work(): void {
    while (running < MAX_PARALLEL_UPGRADES && !stopped.signal.aborted) {
      const peers = [...due.keys()]
      const peer = peers.find(init.isAsked) ?? peers[0]
      if (peer === undefined) return
      const tries = due.get(peer) ?? 0
      due.delete(peer)
      running++
      void attempt(peer, tries).finally(() => {
        running--
        work()
      })
    }
  }

  async function attempt(peer: string, tries: number): Promise<void> {
    const relayed = connectionsTo(host, peer).find(({ direct }) => !direct)
    if (relayed === undefined || isDirect(peer) || stopped.signal.aborted) return
    try {
      await Promise.any([dialAgain(peer), dialWebRtc(relayed)])
      log.debug('relayed connection became direct', { peer })
    } catch (error) {
      if (stopped.signal.aborted || isDirect(peer)) return
      log.debug('no direct connection', { peer, tries, reason: String(error) })
      init.onFailed(peer, 'no direct way through the networks between us: relayed')
      if (connectionsTo(host, peer).length > 0) plan(peer, tries + 1)
    }
  }

  function dialAgain(peer: string): Promise<Connection> {
    const addresses = init.addressesOf(peer).filter((address) => !address.toString().includes('/p2p-circuit'))
    return raceDial(addresses, { dialOne: init.dialOne, clock, signal: stopped.signal })
  }

  async function dialWebRtc({ remoteAddr, remotePeer }: Connection): Promise<Connection> {
    const relay = remoteAddr.toString().split('/p2p-circuit')[0] ?? ''
    const limit = new AbortController()
    const onStop = () => limit.abort(stopped.signal.reason)
    stopped.signal.addEventListener('abort', onStop, { once: true })
    const cancel = clock.after(UPGRADE_TIMEOUT_MS, () =>
      limit.abort(new Error('the NATs let nothing through')),
    )
    try {
      return await init.dialOne(multiaddr(`${relay}/p2p-circuit/webrtc/p2p/${remotePeer}`), limit.signal)
    } finally {
      cancel()
      stopped.signal.removeEventListener('abort', onStop)
    }
  }

  /** Streams move to the direct connection before the relayed one goes. */
  function retire(peer: string): void {
    waiting.get(peer)?.()
    const mine = connectionsTo(host, peer).some(
      ({ direct, direction }) => !direct && direction === 'outbound',
    )
    waiting.set(
      peer,
      clock.after(mine ? RELAYED_GRACE_MS : 2 * RELAYED_GRACE_MS, () => {
        waiting.delete(peer)
        if (!isDirect(peer)) return
        for (const connection of connectionsTo(host, peer)) {
          if (!connection.direct)
            connection.close().catch((error: unknown) => connection.abort(toError(error)))
        }
      }),
    )
  }

  const onOpen = (event: CustomEvent<Connection>) => {
    const connection = event.detail
    const peer = connection.remotePeer.toString()
    if (connection.direct) {
      if (connectionsTo(host, peer).some(({ direct }) => !direct)) retire(peer)
    } else if (isRelayed(connection.remoteAddr)) {
      plan(peer, 0)
    }
  }
  const onClose = (event: CustomEvent<Connection>) => {
    const peer = event.detail.remotePeer.toString()
    const left = connectionsTo(host, peer)
    if (left.length === 0) {
      waiting.get(peer)?.()
      waiting.delete(peer)
      due.delete(peer)
    } else if (left.every(({ direct }) => !direct)) {
      plan(peer, 1)
    }
  }
  host.addEventListener('connection:open', onOpen)
  host.addEventListener('connection:close', onClose)
  return () => {
    stopped.abort(new Error('stopped'))
    host.removeEventListener('connection:open', onOpen)
    host.removeEventListener('connection:close', onClose)
    for (const cancel of waiting.values()) cancel()
    waiting.clear()
    due.clear()
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
