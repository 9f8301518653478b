/**
 * Asks home routers to map ports: UPnP at the routers of the local network, PCP or NAT-PMP at the default router. Needs
 * Node. Anything in a local network may call itself a router, so each answer has a bound.
 *
 * @example
 * ```ts
 * import { silentLogger, systemClock, systemRandom } from '@mesh/core'
 * import { createUdpPortMappings } from '@mesh/port-mapping'
 *
 * const components = { clock: systemClock, random: systemRandom, logger: silentLogger }
 * const mappings = createUdpPortMappings(components)
 * mappings.map(41_641, (found) => console.log(found.map(({ address, port }) => `${address}:${port}`)))
 * await mappings.stop()
 * ```
 */
export { isOnLink } from './local-network/on-link.ts'
export { ownAddressTowards } from './local-network/own-address-towards.ts'
export type { PortMapping } from './port-mapping.ts'
export {
  createUdpPortMappings,
  type OnMapped,
  type PortMappingComponents,
  type UdpPortMappings,
} from './udp-port-mappings.ts'
