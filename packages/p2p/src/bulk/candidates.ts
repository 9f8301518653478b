/** Where a peer's TCP listeners may be reached, judged by the direct connections that stand with it. */
import type { Connection } from '@libp2p/interface'
import type { IpAddress } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ipOf, transportOf } from '../addresses/address-rules.ts'

export interface Endpoint {
  readonly host: IpAddress
  readonly port: number
}

const MAX_CANDIDATES = 3

/** The best one first: what a connection over TCP went to, then each address with each port that the peer offers. */
export function candidatesOf(
  connections: readonly Connection[],
  ports: readonly number[],
  isBlocked: (host: IpAddress) => boolean,
): readonly Endpoint[] {
  const direct = connections.filter(({ direct, status }) => direct && status === 'open')
  const dialled = direct.flatMap(({ direction, remoteAddr }) => {
    const host = ipOf(remoteAddr)
    const port = tcpPortOf(remoteAddr)
    return direction === 'outbound' && host !== undefined && port !== undefined ? [{ host, port }] : []
  })
  const offered = direct.flatMap(({ remoteAddr }) => {
    const host = ipOf(remoteAddr)
    return host === undefined ? [] : ports.map((port) => ({ host, port }))
  })
  const all = new Map([...dialled, ...offered].map((one) => [`${one.host} ${one.port}`, one]))
  return [...all.values()].filter(({ host }) => !isBlocked(host)).slice(0, MAX_CANDIDATES)
}

/** The ports of these addresses where TCP is spoken without WebSocket or relay. */
export function tcpPortsOf(addresses: readonly Multiaddr[]): readonly number[] {
  return [...new Set(addresses.flatMap((address) => tcpPortOf(address) ?? []))]
}

function tcpPortOf(address: Multiaddr): number | undefined {
  const components = address.getComponents()
  if (transportOf(address) !== 'tcp' || components.some(({ name }) => name === 'p2p-circuit'))
    return undefined
  const port = Number(components.find(({ name }) => name === 'tcp')?.value)
  return port > 0 ? port : undefined
}
