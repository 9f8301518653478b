/**
 * Who is in: pure, from the statements and the time. 1 who any administrator revoked is out, whatever else is said;
 * 2 who an administrator admitted is in; 3 who claimed an invite is in until the invite ends, when the invite is open,
 * nobody else claimed it, and no administrator has given it to somebody. An administrator's node makes the third the
 * second; what two claimed, a person decides.
 */
import type { PeerId } from '@mesh/core'
import type { ClaimStatement, InviteStatement, MemberStatement, Statement } from './statements.ts'

export interface Invite extends InviteStatement {
  /** Who claimed it, in order of their ids. */
  readonly claims: readonly PeerId[]
  /** Who an administrator gave it to. */
  readonly usedBy: PeerId | undefined
}

export interface Roster {
  readonly admitted: ReadonlySet<string>
  readonly revoked: ReadonlySet<string>
  /** The claims by invite; in until the invite ends. */
  readonly provisional: ReadonlyMap<PeerId, Invite>
  readonly members: readonly MemberStatement[]
  readonly invites: readonly Invite[]
  /** When the first of the provisional ones is out unless it was confirmed, in Unix ms. */
  readonly changesAt: number | undefined
}

export function buildRoster(statements: Iterable<Statement>, now: number): Roster {
  const members: MemberStatement[] = []
  const claims: ClaimStatement[] = []
  const offered: InviteStatement[] = []
  for (const statement of statements) {
    if (statement.kind === 'member') members.push(statement)
    else if (statement.kind === 'invite') offered.push(statement)
    else claims.push(statement)
  }
  const inState = (wanted: string) =>
    new Set<string>(members.filter(({ state }) => state === wanted).map(({ peer }) => peer))
  const revoked = inState('revoked')
  const admitted = inState('admitted').difference(revoked)
  const invites = offered.map((invite) => withClaims(invite, claims, members))
  const provisional = new Map<PeerId, Invite>()
  for (const invite of invites) {
    const [peer, ...others] = invite.claims
    const isOpen = invite.state === 'open' && now < invite.expiresAt && invite.usedBy === undefined
    if (!isOpen || peer === undefined || others.length > 0) continue
    if (!revoked.has(peer) && !admitted.has(peer)) provisional.set(peer, invite)
  }
  const ends = [...provisional.values()].map(({ expiresAt }) => expiresAt)
  const changesAt = ends.length === 0 ? undefined : Math.min(...ends)
  return { admitted, revoked, provisional, members, invites, changesAt }
}

function withClaims(
  invite: InviteStatement,
  claims: readonly ClaimStatement[],
  members: readonly MemberStatement[],
): Invite {
  const given = members.find((member) => member.invite === invite.invite && member.admin === invite.admin)
  const claimants = claims.flatMap((claim) => (claim.invite === invite.invite ? [claim.peer] : []))
  return { ...invite, claims: claimants.sort(), usedBy: given?.peer }
}
