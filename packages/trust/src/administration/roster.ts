/**
 * Says which peers are members, from the statements and the time. Pure.
 *
 * 1. A peer that an administrator revoked is out.
 * 2. A peer that an administrator admitted is in until its membership ends, unless another peer used its invite first.
 * 3. A peer that claimed an open invite is in until the invite ends, while nobody else claimed it or got it. Where an
 *    administrator asks for approval it waits instead.
 *
 * An administrator's node confirms claims. If two peers claimed one invite, or approval is asked for, a person decides.
 */
import type { PeerId } from '@mesh/core'
import { MEMBER_END_TOLERANCE_MS } from '../limits.ts'
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
  /** When the membership of a peer ends that is in, in Unix ms; peers without an end are not in it. */
  readonly endsAt: ReadonlyMap<string, number>
  /** When the membership of a peer ended that nothing else lets in, in Unix ms. */
  readonly ended: ReadonlyMap<string, number>
  /** The claims by invite; in until the invite ends. */
  readonly provisional: ReadonlyMap<PeerId, Invite>
  /** The claims by invite that wait for an administrator's approval. */
  readonly awaiting: ReadonlyMap<PeerId, Invite>
  /** An administrator asks for approval of those that use an invite. */
  readonly needsApproval: boolean
  readonly members: readonly MemberStatement[]
  readonly invites: readonly Invite[]
  /** The open invites that several claimed, and that nobody is in by. */
  readonly disputed: readonly Invite[]
  /** When the first membership ends, or the first of the provisional, awaiting or disputed invites, in Unix ms. */
  readonly changesAt: number | undefined
}

export function buildRoster(statements: Iterable<Statement>, now: number): Roster {
  const members: MemberStatement[] = []
  const claims: ClaimStatement[] = []
  const offered: InviteStatement[] = []
  let needsApproval = false
  for (const statement of statements) {
    if (statement.kind === 'member') members.push(statement)
    else if (statement.kind === 'invite') offered.push(statement)
    else if (statement.kind === 'claim') claims.push(statement)
    else if (statement.kind === 'approval') needsApproval ||= statement.isRequired
  }
  const users = firstUsers(members)
  const counts = ({ peer, use }: MemberStatement) => use === undefined || users.get(use.invite)?.peer === peer
  const revoked = new Set<string>(members.filter(({ state }) => state === 'revoked').map(({ peer }) => peer))
  const { admitted, endsAt, ended } = sortByEnd(
    members.filter((each) => each.state === 'admitted' && !revoked.has(each.peer) && counts(each)),
    now,
  )
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
  const awaiting = new Map<PeerId, Invite>()
  for (const invite of open) {
    const [peer, ...others] = invite.claims
    if (peer === undefined || others.length > 0) continue
    if (revoked.has(peer) || admitted.has(peer)) continue
    if (needsApproval) awaiting.set(peer, invite)
    else provisional.set(peer, invite)
  }
  const disputed = open.filter((invite) => invite.claims.length > 1)
  let changesAt = Number.POSITIVE_INFINITY
  for (const { expiresAt } of [...provisional.values(), ...awaiting.values(), ...disputed])
    changesAt = Math.min(changesAt, expiresAt)
  for (const end of endsAt.values()) changesAt = Math.min(changesAt, end + MEMBER_END_TOLERANCE_MS)
  return {
    admitted,
    revoked,
    endsAt,
    ended,
    provisional,
    awaiting,
    needsApproval,
    members,
    invites,
    disputed,
    changesAt: changesAt === Number.POSITIVE_INFINITY ? undefined : changesAt,
  }
}

/** Tells who is in and until when: of several administrators' statements on a peer the one that lasts longest counts. */
function sortByEnd(admitting: readonly MemberStatement[], now: number) {
  const ends = new Map<string, number>()
  for (const { peer, until = Number.POSITIVE_INFINITY } of admitting)
    ends.set(peer, Math.max(until, ends.get(peer) ?? 0))
  const admitted = new Set<string>()
  const endsAt = new Map<string, number>()
  const ended = new Map<string, number>()
  for (const [peer, end] of ends) {
    if (now >= end + MEMBER_END_TOLERANCE_MS) {
      ended.set(peer, end)
      continue
    }
    admitted.add(peer)
    if (end !== Number.POSITIVE_INFINITY) endsAt.set(peer, end)
  }
  return { admitted, endsAt, ended }
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
