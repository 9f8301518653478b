/**
 * Ends the timers that libp2p and gossipsub leave behind when they stop: each keeps the process for up to three seconds.
 *
 * @library libp2p 3.3.11, @libp2p/identify 4.1.14, @libp2p/gossipsub 17.1.1
 * @wraps `AddressManager._updatePeerStoreAddresses`, `IdentifyPush._push` and `GossipSub.status`
 * @without A program that closes its node does not end by itself for three seconds.
 * @shown `upstream/libp2p/late-timers.test.ts`
 */
import { openInner } from '../inner-names.ts'

/** The parts of a host that have such timers. */
interface HostWithTimers {
  readonly services: {
    readonly parts: { readonly components: { readonly addressManager: unknown } }
    readonly identifyPush: unknown
    readonly pubsub: unknown
  }
}

interface Delayed {
  readonly stop: () => void
}

/**
 * Call it when the host has started; call what it gives when the host has stopped.
 * @throws MeshError `p2p.incompatible_library` when another version of a library is installed
 */
export function endLateTimers({ services }: HostWithTimers): () => void {
  const { addressManager } = services.parts.components
  const addresses = openInner<{ _updatePeerStoreAddresses: Delayed }>('libp2p 3.3.11', addressManager, [
    '_updatePeerStoreAddresses',
  ])
  const identify = openInner<{ _push: Delayed }>('@libp2p/identify 4.1.14', services.identifyPush, ['_push'])
  // stopping gives it another status
  const { status: gossip } = openInner<{ status: { readonly heartbeatTimeout?: NodeJS.Timeout } }>(
    '@libp2p/gossipsub 17.1.1',
    services.pubsub,
    ['status'],
  )
  return () => {
    addresses._updatePeerStoreAddresses.stop()
    identify._push.stop()
    clearTimeout(gossip.heartbeatTimeout)
  }
}
