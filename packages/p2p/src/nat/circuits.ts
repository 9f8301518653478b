/** Circuits, libp2p's relayed connections: the library gets parts of the host that leave the choice to this node. */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { isPeerId, type PeerStore, type Transport } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import type { Clock } from '@mesh/core'
import { joinTransport, type MeshHost } from '../libp2p/base-host.ts'
import { RELAY_RESERVATION_MS } from '../limits.ts'
import { renewInTime } from '../upstream/circuit-relay/reservations.ts'

/** Adds the transport to the host. */
export async function joinCircuits(host: MeshHost, clock: Clock): Promise<void> {
  await joinTransport(host, (components: object) => buildCircuitTransport(components, clock), [])
}

/** Builds the transport from a host's inner parts; it dials over relays, and asks nobody to relay for this node. */
export function buildCircuitTransport(components: object, clock: Clock): Transport {
  // the library listens to ask a peer that brings a circuit for a reservation
  const transportManager: Pick<TransportManager, 'listen'> = {
    listen: () => Promise.reject(new Error('reservations are made at members of our choice')),
  }
  const { connectionManager, peerStore } = components as {
    readonly connectionManager: ConnectionManager
    readonly peerStore: PeerStore
  }
  // where all connections to a relay are in doubt it is dialled anew: libp2p's dialler would give one of them
  const openConnection: ConnectionManager['openConnection'] = (relay, options) => {
    const force = isPeerId(relay) && connectionManager.getConnections(relay).length === 0
    return connectionManager.openConnection(relay, { ...options, force })
  }
  const transport = circuitRelayTransport()(
    Object.create(components, {
      transportManager: { value: transportManager },
      connectionManager: {
        value: Object.create(connectionManager, { openConnection: { value: openConnection } }),
      },
      peerStore: { value: takingPastTimes(peerStore) },
    }),
  )
  renewInTime(transport, clock)
  return transport
}

/** Tags a relay for as long as its reservation lasts, also where that seems to be over by this machine's clock. */
function takingPastTimes(peerStore: PeerStore): PeerStore {
  const merge: PeerStore['merge'] = (peer, { tags, ...data }, options) => {
    const named = tags instanceof Map ? [...tags] : Object.entries(tags ?? {})
    const lasting = named.map(([name, tag]) => {
      const isOver = tag?.ttl !== undefined && tag.ttl < 0
      return [name, isOver ? { ...tag, ttl: RELAY_RESERVATION_MS } : tag] as const
    })
    return peerStore.merge(peer, { ...data, ...(tags !== undefined && { tags: new Map(lasting) }) }, options)
  }
  return new Proxy(peerStore, {
    get: (target, name) => {
      if (name === 'merge') return merge
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
