/**
 * Keeps what this node dials because others ask it to, for hole punching and for AutoNAT, to who asks. Version 3.0.28 of
 * @libp2p/dcutr takes such questions on any connection, direct ones of strangers too, takes every name for a public
 * address, `localhost` too, and is content with whoever answers there; version 2.0.15 of @libp2p/autonat-v2 dials as
 * many addresses as a message holds, one after the other, as often as it is asked. So anybody makes a node connect to
 * third parties, or to itself, as often as it likes; and what a node dialled had a place that no stranger has.
 * Report to send: 'dcutr: refuse CONNECT on connections that are not relayed, and dial with the peer id of the connection;
 * autonat-v2: bound addresses of a request, and requests'.
 *
 * Calls `handleIncomingUpgrade`, `upgradeInbound` and `handleDialRequestStream` with a connection manager of their own; where
 * they are missing nothing is bounded. Without it `dials-for-others.test.ts` fails; `npm run attack -- hole-punches
 * dial-requests` asks so.
 */
import type { Connection, Stream } from '@libp2p/interface'
import type { ConnectionManager, OpenConnectionOptions } from '@libp2p/interface-internal'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { IsAllowed } from '../addresses/address-rate.ts'
import { isRelayed, peerIn } from '../addresses/address-rules.ts'
import { MAX_PEER_ADDRESSES } from '../limits.ts'

/** Does what dials a peer that asked for it: what it opens is none of this node's own. */
export type DialFor = <T>(peer: string, dial: () => Promise<T>) => Promise<T>

interface BoundInit {
  /** True while the address of a connection, and all together, have asked for little enough. */
  readonly isAllowed: IsAllowed
  readonly dialFor: DialFor
}

type Dialling = Pick<ConnectionManager, 'openConnection' | 'isDialable'>

interface HolePunching {
  readonly connectionManager?: Dialling
  handleIncomingUpgrade?(stream: Stream, connection: Connection): Promise<void>
  upgradeInbound?(connection: Connection): Promise<void>
}

/** Bounds a service of hole punching that has not started yet. */
export function boundHolePunches<T extends object>(service: T, init: BoundInit): T {
  const punching: HolePunching = service
  const { connectionManager } = punching
  const { handleIncomingUpgrade, upgradeInbound } = Object.getPrototypeOf(service) as HolePunching
  if (connectionManager === undefined || handleIncomingUpgrade === undefined || upgradeInbound === undefined)
    return service
  const dialling = (connection: Connection) =>
    Object.create(service, {
      connectionManager: { value: towards(connection, connectionManager, init) },
    }) as HolePunching
  punching.handleIncomingUpgrade = async (stream, connection) => {
    if (isRelayed(connection.remoteAddr) && init.isAllowed(connection))
      return await handleIncomingUpgrade.call(dialling(connection), stream, connection)
    stream.abort(new Error('no hole is punched for this peer now'))
  }
  punching.upgradeInbound = async (connection) => {
    if (init.isAllowed(connection)) await upgradeInbound.call(dialling(connection), connection)
  }
  return service
}

interface DialBacks {
  readonly components?: { readonly connectionManager: Dialling }
  handleDialRequestStream?(stream: Stream, connection: Connection): Promise<void>
}

/** Bounds the side of an AutoNAT service, which has not started yet, that dials. */
export function boundDialBacks<T extends object>(service: T, init: BoundInit): T {
  const { server } = service as { readonly server?: DialBacks }
  const { components } = server ?? {}
  if (server === undefined || components === undefined) return service
  const { handleDialRequestStream } = Object.getPrototypeOf(server) as DialBacks
  server.handleDialRequestStream = async (stream, connection) => {
    if (!init.isAllowed(connection)) return stream.abort(new Error('too many questions'))
    const connectionManager = towards(connection, components.connectionManager, init)
    const bounded = Object.create(server, {
      components: { value: Object.assign(Object.create(components) as object, { connectionManager }) },
    }) as DialBacks
    await handleDialRequestStream?.call(bounded, stream, connection)
  }
  return service
}

/** A connection manager that dials the peer of a connection alone, at IP addresses alone, and not many of them. */
function towards({ remotePeer }: Connection, manager: Dialling, { dialFor }: BoundInit): Dialling {
  const peer = remotePeer.toString()
  const dialled = new Set<string>()
  const choose = (asked: Parameters<Dialling['openConnection']>[0]): Multiaddr[] => {
    const addresses = (Array.isArray(asked) ? asked : [asked]).filter(isMultiaddr)
    const chosen = addresses
      .filter((address) => isStraight(address) && (peerIn(address) ?? peer) === peer)
      .filter((address) => dialled.has(address.toString()) || dialled.size < MAX_PEER_ADDRESSES)
      .slice(0, MAX_PEER_ADDRESSES)
    if (chosen.length === 0) throw new Error('no address at which this peer may be dialled')
    for (const address of chosen) dialled.add(address.toString())
    return chosen.map((address) =>
      peerIn(address) === undefined ? address.encapsulate(`/p2p/${peer}`) : address,
    )
  }
  return {
    openConnection: async (
      asked: Parameters<Dialling['openConnection']>[0],
      options?: OpenConnectionOptions,
    ) => await dialFor(peer, () => manager.openConnection(choose(asked), options)),
    isDialable: async (asked, options) => await manager.isDialable(choose(asked), options),
  }
}

const isMultiaddr = (target: unknown): target is Multiaddr =>
  typeof target === 'object' && target !== null && 'getComponents' in target

/** Names lead wherever their owner likes, and relays to whomever. */
function isStraight(address: Multiaddr): boolean {
  const names = address.getComponents().map(({ name }) => name)
  return ['ip4', 'ip6'].includes(names[0] ?? '') && !names.includes('p2p-circuit')
}
