/**
 * A member of a mesh network on a machine: everything of `@mesh/p2p` that only Node has.
 *
 * @example
 * ```ts
 * import { silentLogger, systemClock, systemRandom } from '@mesh/core'
 * import { generateNetworkConfig } from '@mesh/network'
 * import { createP2pNode } from '@mesh/p2p/node'
 *
 * const network = generateNetworkConfig({}, systemRandom)
 * const node = await createP2pNode(
 *   { network, identity: systemRandom.bytes(32), listen: ['/ip4/127.0.0.1/tcp/0'], private: true },
 *   { clock: systemClock, random: systemRandom, logger: silentLogger },
 * )
 * console.log(node.self, node.addresses())
 * await node.stop()
 * ```
 */
import { createNodePlatform } from './host/node-platform.ts'
import { createP2pMember, type P2pMember } from './host/p2p-member.ts'
import type { P2pNodeInit } from './host/switches.ts'
import type { P2pComponents } from './p2p-components.ts'

export type { P2pMember } from './host/p2p-member.ts'
export type { RelayLimits } from './host/member-init.ts'
export type { P2pComponents } from './p2p-components.ts'
export { DEFAULT_SWITCHES, type P2pNodeInit, type Switches } from './host/switches.ts'

/**
 * Starts a member; resolves when it listens on TCP. What else is switched on joins right after, see
 * `allTransportsReady`.
 *
 * @throws MeshError `p2p.bad_identity`, `p2p.bad_bootstrap_peer`, `p2p.bad_listen_address`, `p2p.cannot_listen`
 */
export function createP2pNode(init: P2pNodeInit, components: P2pComponents): Promise<P2pMember> {
  return createP2pMember(init, createNodePlatform(init, components), components)
}
