/**
 * Stops libp2p and what it leaves behind: timers that keep a process alive for up to three seconds and do nothing any
 * more. Gossipsub 17.1.1 sets its next heartbeat while it stops; libp2p 3.3.11 puts off a last note of its addresses,
 * and identify 4.1.14 a last push, past their own stop. The names reached into are internal to these versions; a part
 * that keeps its timer elsewhere is stopped as far as it goes, and `test/ending.test.ts` covers it.
 */
import type { Startable } from '@libp2p/interface'

/** The host that is stopped, with its gossipsub and its inner parts by name. */
interface StoppableHost {
  stop(): unknown
  readonly services: {
    readonly pubsub: unknown
    readonly parts: {
      readonly components: { readonly addressManager: unknown; readonly [name: string]: unknown }
    }
  }
}

/** Stops the host so that nothing of it keeps the process alive. */
export async function stopHost(host: StoppableHost): Promise<void> {
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

/** Stops one of libp2p's debounced functions, so that its last call is never made. */
function endPutOff(part: unknown, name: string): void {
  const putOff = (part as Readonly<Record<string, { readonly stop?: () => void } | undefined>>)[name]
  putOff?.stop?.()
}
