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
import {
  createMeshNode,
  type MeshNode,
  type MeshNodeComponents,
  type MeshNodeInit,
} from './host/mesh-node.ts'

export type { MeshNode, MeshNodeComponents, MeshNodeInit } from './host/mesh-node.ts'

export interface MemoryNodeInit extends MeshNodeInit {
  /** Milliseconds that every buffer is under way. Default 0. */
  readonly latencyMs?: number
}

let nodes = 0

/** A member that only members of the same process can reach, at `/memory/...`. */
export function createMemoryNode(init: MemoryNodeInit, components: MeshNodeComponents): Promise<MeshNode> {
  const { latencyMs = 0 } = init
  return createMeshNode(
    init,
    {
      transports: [memory({ latency: latencyMs })],
      listen: [`/memory/mesh-${nodes++}`],
      join: async () => async () => {},
    },
    components,
  )
}
