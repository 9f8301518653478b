/**
 * Tells connected peers what changed of this node: which protocols it speaks soon, and its addresses soon while few are
 * connected. A peer that is connected needs no address of this node, and each push costs both ends a stream and a signature:
 * where fifty machines start together, whose addresses change four times each, they would be most of what they do.
 * libp2p 3.3.11 by itself pushes a second after each change.
 */
import type { PeerUpdate, TypedEventTarget } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { FEW_PUSHES, PUSH_AFTER_MS, PUSH_FOR_EACH_MS } from './limits.ts'

interface PushingHost extends Pick<TypedEventTarget<PushEvents>, 'addEventListener' | 'removeEventListener'> {
  getConnections(): readonly unknown[]
  readonly services: { readonly identifyPush: { push(): Promise<void> } }
}

interface PushEvents {
  'self:peer:update': CustomEvent<PeerUpdate>
}

/** Begins to listen for changes; gives the function that stops it. */
export function pushIdentify({
  host,
  clock,
}: {
  readonly host: PushingHost
  readonly clock: Clock
}): () => void {
  let dueMs = Number.POSITIVE_INFINITY
  let cancel = () => {}

  function pushAt(atMs: number): void {
    cancel()
    dueMs = atMs
    cancel = clock.after(atMs - clock.monotonic(), () => {
      dueMs = Number.POSITIVE_INFINITY
      void host.services.identifyPush.push()
    })
  }

  const onUpdate = ({ detail: { peer, previous } }: CustomEvent<PeerUpdate>): void => {
    const now = clock.monotonic()
    const many = Math.max(0, host.getConnections().length - FEW_PUSHES)
    const spoken = new Set(previous?.protocols)
    const isSoon = many === 0 || peer.protocols.some((protocol) => !spoken.has(protocol))
    // several changes within a short time are told once
    if (isSoon) pushAt(now + PUSH_AFTER_MS)
    else if (dueMs === Number.POSITIVE_INFINITY) pushAt(now + PUSH_AFTER_MS + many * PUSH_FOR_EACH_MS)
  }
  host.addEventListener('self:peer:update', onUpdate)
  return () => {
    host.removeEventListener('self:peer:update', onUpdate)
    cancel()
  }
}
