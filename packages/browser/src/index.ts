/**
 * A browser tab that is a member of a mesh network: it holds a ledger that it checks itself, and fetches HTTP services
 * of members, encrypted from end to end.
 *
 * @example
 * ```ts
 * import { joinMesh } from '@mesh/browser'
 *
 * export async function show(token: string, node: string): Promise<string> {
 *   const mesh = await joinMesh({ token, nodes: [node] })
 *   await mesh.ledger.put('notes', 'greeting', { text: 'hello' })
 *   const answer = await mesh.fetch('http://wiki.svc.mesh/')
 *   return await answer.text()
 * }
 * ```
 */
export { MeshError } from '@mesh/core'
export type { MeshChange, MeshEntry, MeshLedger, Waiting, WatchInit } from '@mesh/ledger/values'
export { joinMesh } from './join-mesh.ts'
export type { JoinMeshInit, Mesh, MeshMember, MeshState } from './mesh.ts'
