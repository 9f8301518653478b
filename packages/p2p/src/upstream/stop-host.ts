/**
 * Stops libp2p and what it leaves behind: timers that keep a process alive for up to three seconds and do nothing any
 * more. Gossipsub 17.1.1 sets its next heartbeat while it stops; libp2p 3.3.11 puts off a last note of its addresses,
 * and identify 4.1.14 a last push, past their own stop. The names reached into are internal to these versions; a part
 * that keeps its timer elsewhere is stopped as far as it goes, and `test/ending.test.ts` covers it.
 *
 * What listens for WebRTC Direct below @libp2p/webrtc 6.0.33 is freed a while after the host has stopped: the thread of
 * node-datachannel 0.33.4 goes on calling what was freed for packets from unknown peers, which ends the process with an
 * abort, and members whose connections have closed dial anew just then. A process that ends meanwhile frees nothing.
 */
import type { Startable } from '@libp2p/interface'
import type { Clock } from '@mesh/core'

/** The host that is stopped, with its gossipsub and its inner parts by name. */
interface StoppableHost {
  stop(): unknown
  readonly services: {
    readonly pubsub: unknown
    readonly parts: {
      readonly components: {
        readonly addressManager: unknown
        readonly transportManager: { getListeners(): readonly unknown[] }
        readonly [name: string]: unknown
      }
    }
  }
}

/** How long listeners for WebRTC Direct outlive their host, in ms. */
const LINGER_MS = 2_000

/** Stops the host so that nothing of it keeps the process alive. */
export async function stopHost(host: StoppableHost, clock: Clock): Promise<void> {
  const { pubsub, parts } = host.services
  for (const listener of parts.components.transportManager.getListeners()) freeLater(listener, clock)
  endHeartbeat(pubsub)
  // gossipsub at once, so that no heartbeat sets the next one
  await Promise.all([(pubsub as Partial<Startable>).stop?.(), host.stop()])
  // while it stops its addresses and protocols change, which it would note a second later, and tell another later
  endPutOff(parts.components.addressManager, '_updatePeerStoreAddresses')
  endPutOff(parts.components['identifyPush'], '_push')
}

/** The part of a WebRTC Direct listener that holds the native one. */
interface StunServer {
  close(): Promise<void>
}

/** The parts that are not freed yet; held, since the native part is freed as soon as nothing refers to it. */
const lingering = new Set<unknown>()

function freeLater(listener: unknown, clock: Clock): void {
  const { stunServer } = listener as { readonly stunServer?: StunServer }
  if (stunServer === undefined) return
  const close = stunServer.close.bind(stunServer)
  stunServer.close = () => {
    if (lingering.has(stunServer)) return Promise.resolve()
    lingering.add(stunServer).add(close)
    clock.after(LINGER_MS, () => {
      lingering.delete(stunServer)
      lingering.delete(close)
      void close()
    })
    return Promise.resolve()
  }
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
