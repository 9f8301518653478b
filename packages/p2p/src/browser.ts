/**
 * A member of a mesh network in a browser tab. It connects to the nodes that it is given over WebSockets, and to all
 * other members in circuits over these nodes. Circuits are encrypted between the tab and the member.
 *
 * @example
 * ```ts
 * import { silentLogger, systemClock, systemRandom } from '@mesh/core'
 * import { parseToken } from '@mesh/network'
 * import { createP2pTab } from '@mesh/p2p/browser'
 *
 * export async function join(token: string, node: string): Promise<string> {
 *   const tab = await createP2pTab(
 *     { network: parseToken(token), identity: systemRandom.bytes(32), bootstrapPeers: [node] },
 *     { clock: systemClock, random: systemRandom, logger: silentLogger },
 *   )
 *   return tab.self
 * }
 * ```
 */
import { createBrowserPlatform } from './host/browser-platform.ts'
import type { P2pMemberInit } from './host/member-init.ts'
import { createP2pMember, type P2pMember } from './host/p2p-member.ts'
import { connectOverNodes } from './host/tab-circuits.ts'
import type { P2pComponents } from './p2p-components.ts'

export type { P2pMember } from './host/p2p-member.ts'
export type { P2pComponents } from './p2p-components.ts'

export interface P2pTabInit
  extends Pick<P2pMemberInit, 'network' | 'identity' | 'name' | 'userAgent' | 'admission'> {
  /** The nodes that the tab joins by: WebSocket addresses, each of which ends with `/p2p/` and the node's id. */
  readonly bootstrapPeers: readonly string[]
}

/**
 * Starts a member in a page; resolves before it has connected. `connect` reaches any member that one of the nodes is
 * connected to.
 *
 * @throws MeshError `p2p.bad_identity`, `p2p.bad_bootstrap_peer`
 */
export async function createP2pTab(init: P2pTabInit, components: P2pComponents): Promise<P2pMember> {
  const platform = createBrowserPlatform({ nodes: init.bootstrapPeers }, components.clock)
  const member = await createP2pMember(init, platform, components)
  const { clock } = components
  return { ...member, connect: (peer, signal) => connectOverNodes(peer, { member, clock, signal }) }
}
