/**
 * Stops libp2p and what it leaves behind: timers that keep a process alive for up to three seconds and do nothing any
 * more. All of them are internal to pinned versions; a part that keeps them elsewhere is stopped as far as it goes.
 */
import type { Startable } from '@libp2p/interface'
import type { MeshHost } from '../libp2p/base-host.ts'

export async function stopHost(host: MeshHost): Promise<void> {
  const { pubsub, parts } = host.services
  endHeartbeat(pubsub)
  // gossipsub at once, so that no heartbeat sets the next one
  await Promise.all([(pubsub as Partial<Startable>).stop?.(), host.stop()])
  // while it stops its addresses and protocols change, which it would note a second later, and tell another later
  endPutOff(parts.components.addressManager, '_updatePeerStoreAddresses')
  endPutOff(parts.components['identifyPush'], '_push')
}

function endHeartbeat(pubsub: unknown): void {
  const { status } = pubsub as {
    readonly status?: { readonly heartbeatTimeout?: Parameters<typeof clearTimeout>[0] }
  }
  clearTimeout(status?.heartbeatTimeout)
}

/** libp2p's debounced functions can be stopped. */
function endPutOff(part: unknown, name: string): void {
  const putOff = (part as Readonly<Record<string, { readonly stop?: () => void } | undefined>>)[name]
  putOff?.stop?.()
}
