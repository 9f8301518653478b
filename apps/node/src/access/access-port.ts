/** The peer gate and the administrators as the API shows them. */
import type { AccessPort } from '@mesh/api-server'
import { MeshError } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { Administration, Invite, Trust } from '@mesh/trust'
import { memberNames } from './member-names.ts'

type MemberView = NonNullable<ReturnType<AccessPort['admission']>>['Members'][number]

interface AccessComponents {
  readonly trust: Trust
  readonly ledger: Ledger
  /** The names that peers gave themselves on connections, by peer id; members without an interface have no other. */
  readonly toldNames: () => ReadonlyMap<string, string>
  readonly now: () => number
}

export function createAccessPort(components: AccessComponents): AccessPort {
  const { trust } = components
  const { administration } = trust
  const required = () => {
    if (administration !== undefined) return administration
    throw new MeshError('trust.no_administrators', 'this network has no administrators')
  }
  return {
    gate: () => trust.gate,
    admission: () => (administration === undefined ? undefined : describe(administration, components)),
    setMember: (peer, state, init) => required().setMember(peer, state, init),
    setApproval: (isRequired) => required().setApproval(isRequired),
    invite: (init) => required().invite(init),
    cancelInvite: (invite) => required().cancelInvite(invite),
    subscribe: (listener) => trust.onChange(listener),
  }
}

function describe(
  administration: Administration,
  components: AccessComponents,
): ReturnType<AccessPort['admission']> {
  const { trust, ledger, now } = components
  const { roster, administrators, holdsKey } = administration
  const nameOf = namesOf(roster, components)
  // of several who said something the one is named whose word counts
  const byWeight = roster.members.toSorted(
    (a, b) => Number(a.state === 'revoked') - Number(b.state === 'revoked'),
  )
  const stateOfPeer = (peer: string) => {
    if (roster.revoked.has(peer)) return 'revoked'
    return roster.admitted.has(peer) ? 'admitted' : 'ended'
  }
  const isStated = (peer: string) =>
    roster.admitted.has(peer) || roster.revoked.has(peer) || roster.ended.has(peer)
  const stated = new Map(
    byWeight.filter(({ peer }) => isStated(peer)).map(({ peer, admin }) => [peer as string, admin]),
  )
  const memberView = (peer: string, state: MemberView['State'], administrator: string | null) => ({
    PeerID: peer,
    Name: nameOf(peer),
    State: state,
    Administrator: administrator,
    EndsAt: timeText(roster.endsAt.get(peer) ?? roster.ended.get(peer)),
  })
  const waiting = new Set<string>([...roster.awaiting.keys(), ...trust.waiting()])
  return {
    Administrators: [...administrators],
    NeedsApproval: roster.needsApproval,
    HoldsKey: holdsKey,
    Revoked: administration.isRevoked(ledger.self),
    Members: [
      ...[...stated].map(([peer, admin]) => memberView(peer, stateOfPeer(peer), admin)),
      ...[...roster.provisional].map(([peer, { admin }]) => memberView(peer, 'provisional', admin)),
      ...[...waiting].filter((peer) => !stated.has(peer)).map((peer) => memberView(peer, 'waiting', null)),
    ],
    Invites: roster.invites.map((invite) => ({
      Invite: invite.invite,
      Administrator: invite.admin,
      Label: invite.label,
      ExpiresAt: new Date(invite.expiresAt).toISOString(),
      MemberForSeconds: invite.memberForMs === undefined ? null : invite.memberForMs / 1_000,
      State: stateOf(invite, now()),
      Claims: [...invite.claims],
    })),
  }
}

/** Names peers: by what a machine announced, else what the peer said on a connection, else its invite's label. */
function namesOf(
  { members, invites, provisional, awaiting }: Administration['roster'],
  { ledger, toldNames }: AccessComponents,
): (peer: string) => string {
  const [names, told] = [memberNames(ledger), toldNames()]
  const labels = new Map(invites.map(({ invite, label }) => [invite as string, label]))
  const used = new Map<string, string>()
  for (const { peer, use } of members) if (use !== undefined) used.set(peer, use.invite)
  for (const [peer, { invite }] of [...provisional, ...awaiting]) used.set(peer, invite)
  return (peer) => names.get(peer) ?? told.get(peer) ?? labels.get(used.get(peer) ?? '') ?? ''
}

function timeText(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString()
}

function stateOf({ state, usedBy, claims, expiresAt }: Invite, now: number) {
  if (usedBy !== undefined) return 'used'
  if (state === 'cancelled') return 'cancelled'
  if (now >= expiresAt) return 'expired'
  return claims.length > 1 ? 'disputed' : 'open'
}
