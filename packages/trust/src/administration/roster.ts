/**
 * Says which peers are members, from the statements and the time. Pure.
 *
 * 1. A peer that an administrator revoked is out.
 * 2. A peer that an administrator admitted is in, unless another peer used its invite first.
 * 3. A peer that claimed an open invite is in until the invite ends, while nobody else claimed it or got it.
 *
 * An administrator's node confirms claims. If two peers claimed one invite, a person decides.
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
  /** The open invites that several claimed, and that nobody is in by. */
  readonly disputed: readonly Invite[]
  /** When the first of the provisional or disputed invites ends, in Unix ms. */
  readonly changesAt: number | undefined
}

export function buildRoster(statements: Iterable<Statement>, now: number): Roster {
  const members: MemberStatement[] = []
  const claims: ClaimStatement[] = []
  const offered: InviteStatement[] = []
  for (const statement of statements) {
    if (statement.kind === 'member') members.push(statement)
    else if (statement.kind === 'invite') offered.push(statement)
    else if (statement.kind === 'claim') claims.push(statement)
  }
  const users = firstUsers(members)
  const counts = ({ peer, use }: MemberStatement) => use === undefined || users.get(use.invite)?.peer === peer
  const inState = (wanted: string) => members.filter((each) => each.state === wanted)
  const revoked = new Set<string>(inState('revoked').map(({ peer }) => peer))
  const admitted = new Set<string>(
    inState('admitted')
      .filter(counts)
      .map(({ peer }) => peer),
  ).difference(revoked)
  const claimsOf = Map.groupBy(claims, ({ invite }) => invite)
  const invites = offered.map(
    (offer): Invite => ({
      ...offer,
      claims: (claimsOf.get(offer.invite) ?? []).map(({ peer }) => peer).sort(),
      usedBy: users.get(offer.invite)?.peer,
    }),
  )
  const open = invites.filter(
    ({ state, expiresAt, usedBy }) => state === 'open' && now < expiresAt && usedBy === undefined,
  )
  const provisional = new Map<PeerId, Invite>()
  for (const invite of open) {
    const [peer, ...others] = invite.claims
    if (peer === undefined || others.length > 0) continue
    if (!revoked.has(peer) && !admitted.has(peer)) provisional.set(peer, invite)
  }
  const disputed = open.filter((invite) => invite.claims.length > 1)
  const ends = [...provisional.values(), ...disputed].map(({ expiresAt }) => expiresAt)
  const changesAt = ends.length === 0 ? undefined : Math.min(...ends)
  return { admitted, revoked, provisional, members, invites, disputed, changesAt }
}

/** Who used each invite first, by the time of use and then by peer id: two administrators may have let in one each. */
function firstUsers(members: readonly MemberStatement[]): ReadonlyMap<PeerId, Use> {
  const first = new Map<PeerId, Use>()
  for (const { peer, use } of members) {
    if (use === undefined) continue
    const known = first.get(use.invite)
    const isEarlier = known === undefined || use.at < known.at || (use.at === known.at && peer < known.peer)
    if (isEarlier) first.set(use.invite, { peer, at: use.at })
  }
  return first
}

interface Use {
  readonly peer: PeerId
  readonly at: number
}
