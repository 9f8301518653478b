/**
 * Who may use a mesh network: a peer gate compatible with networks of EdgeVPN's kind, and administrators whose signed
 * statements every node checks by itself. Ledger and network are handed in. The peer guard, which Node.js alone has, is in
 * `@mesh/trust/node`.
 *
 * @example
 * ```ts
 * import { systemClock, systemRandom, silentLogger } from '@mesh/core'
 * import { createLedger, createSigner, defaultPolicies } from '@mesh/ledger'
 * import { createTrust } from '@mesh/trust'
 * import { checkPolicy } from '@mesh/trust/rules'
 *
 * const signer = createSigner(systemRandom.bytes(32))
 * const admin = createSigner(systemRandom.bytes(32))
 * const trust = createTrust(
 *   { self: signer.peerId, network: '00112233445566778899', administrators: [admin.peerId] },
 *   { signer, readAdminSeed: () => undefined, checkPolicy, clock: systemClock, random: systemRandom, log: silentLogger },
 * )
 * const policies = { ...defaultPolicies, ...trust.policies }
 * const ledger = createLedger({ policies }, { signer, admits: (...asked) => trust.admits(...asked) })
 * trust.attachLedger(ledger)
 * console.log(trust.mayUse(admin.peerId))
 * trust.stop()
 * await ledger.stop()
 * ```
 */
export type { Administration, NewInvite } from './administration/administration.ts'
export { parseInviteCode } from './administration/invite-code.ts'
export type { Invite, Roster } from './administration/roster.ts'
export type { MemberState, MemberStatement } from './administration/statements.ts'
export {
  createTrust,
  type GateSwitch,
  type GuardInit,
  type Trust,
  type TrustComponents,
  type TrustInit,
} from './create-trust.ts'
export type { CreateGuard, Guard, PeerGuardComponents, PeerGuardInit } from './gate/guard.ts'
export type { TrustErrorCode } from './errors.ts'
export type { PublishEntries, TrustChannel, TrustChannels, TrustLedger, TrustNetwork } from './ports.ts'
