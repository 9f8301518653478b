/**
 * A node of a mesh network inside a program of your own: the shared ledger, services, and HTTP between members.
 *
 * @example
 * ```ts
 * import { generateToken, joinMesh } from '@mesh/node'
 *
 * const mesh = await joinMesh({ token: generateToken(), name: 'worker-1', ephemeral: true, private: true })
 * await mesh.ledger.put('jobs', 'a', { state: 'waiting' })
 * console.log(mesh.id, mesh.ledger.get('jobs', 'a'))
 * await mesh.close()
 * ```
 */
export { MeshError } from '@mesh/core'
export type { LeaseOptions, MeshLease } from './embed/embedded-leases.ts'
export type { MeshChange, MeshEntry, MeshLedger, Waiting, WatchInit } from '@mesh/ledger/values'
export type { MeshService } from './embed/embedded-services.ts'
export { generateToken } from './embed/generate-token.ts'
export type { JoinMeshInit, SettingValue } from './embed/join-init.ts'
export { joinMesh, type Mesh } from './embed/join-mesh.ts'
