/**
 * Connects a tab to any member over a node that both are connected to. The relay refuses a tab that has not proven its
 * membership yet, so the tab first waits for a node that has proven its own: one handshake proves both.
 */
import { MeshError, untilAborted, withDeadline, type Clock, type PeerId } from '@mesh/core'
import type { P2pNode } from '../p2p-node.ts'
import { RELAY_HOP } from '../protocols.ts'
import { RELAY_WAIT_MS } from './limits.ts'

type CircuitMember = Pick<P2pNode, 'channels' | 'addPeer' | 'connect' | 'peer'>

export async function connectOverNodes(
  peer: PeerId,
  {
    member,
    clock,
    signal,
  }: { readonly member: CircuitMember; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  if (member.peer(peer)?.connected !== true) {
    const reason = () =>
      new MeshError('p2p.unreachable', 'no node that relays is connected', { details: { peer } })
    const relays = await withDeadline({ clock, ms: RELAY_WAIT_MS, signal, reason }, (own) =>
      untilRelays(member, own),
    )
    for (const relay of relays) if (relay !== peer) member.addPeer(`/p2p/${relay}/p2p-circuit/p2p/${peer}`)
  }
  await member.connect(peer, signal)
}

/** Resolves with the members that relay and are connected directly, as soon as there is one. @throws the signal's reason */
async function untilRelays(
  { channels, peer }: CircuitMember,
  signal: AbortSignal,
): Promise<readonly PeerId[]> {
  // no circuit goes over another circuit
  const relays = () => channels.peersWith(RELAY_HOP).filter((id) => peer(id)?.path === 'direct')
  const found = Promise.withResolvers<void>()
  const stop = channels.onPeerWith(RELAY_HOP, () => relays().length > 0 && found.resolve())
  try {
    if (relays().length === 0) await untilAborted(found.promise, signal)
    return relays()
  } finally {
    stop()
  }
}
