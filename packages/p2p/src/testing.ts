/**
 * A network without sockets, for tests: a hundred members live in one process.
 *
 * @example
 * ```ts
 * import { silentLogger, systemClock, systemRandom } from '@mesh/core'
 * import { generateNetworkConfig } from '@mesh/network'
 * import { createMemoryNode } from '@mesh/p2p/testing'
 *
 * const network = generateNetworkConfig({}, systemRandom)
 * const components = { clock: systemClock, random: systemRandom, logger: silentLogger }
 * const first = await createMemoryNode({ network, identity: systemRandom.bytes(32) }, components)
 * const second = await createMemoryNode(
 *   { network, identity: systemRandom.bytes(32), bootstrapPeers: first.addresses() },
 *   components,
 * )
 * await Promise.all([first.stop(), second.stop()])
 * ```
 */
import { memory } from '@libp2p/memory'
import { createP2pMember, type P2pMember } from './host/p2p-member.ts'
import type { P2pMemberInit } from './host/member-init.ts'
import type { P2pComponents } from './p2p-components.ts'

export type { P2pMember } from './host/p2p-member.ts'
export type { P2pMemberInit } from './host/member-init.ts'
export type { P2pComponents } from './p2p-components.ts'

export interface MemoryNodeInit extends P2pMemberInit {
  /** How long every buffer is under way, in ms; 0 by default. */
  readonly latencyMs?: number
}

let nodes = 0

/** Starts a member that only members of the same process can reach, at `/memory/...`. */
export function createMemoryNode(init: MemoryNodeInit, components: P2pComponents): Promise<P2pMember> {
  const { latencyMs = 0 } = init
  return createP2pMember(
    init,
    {
      transports: [memory({ latency: latencyMs })],
      listen: [`/memory/mesh-${nodes++}`],
      join: async () => async () => {},
    },
    components,
  )
}
