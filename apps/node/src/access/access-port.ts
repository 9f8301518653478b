/** The peer gate and the administrators as the API shows them. */
import type { AccessPort, AdmissionState } from '@mesh/api-server'
import { MeshError } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { Administration, Invite, Trust } from '@mesh/trust'
import { memberNames } from './member-names.ts'

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
    setMember: (peer, state) => required().setMember(peer, state),
    invite: (init) => required().invite(init),
    cancelInvite: (invite) => required().cancelInvite(invite),
    subscribe: (listener) => trust.onChange(listener),
  }
}

function describe(administration: Administration, components: AccessComponents): AdmissionState {
  const { trust, ledger, now } = components
  const { roster, administrators, holdsKey } = administration
  const nameOf = namesOf(roster, components)
  // of several who said something the one is named whose word counts
  const byWeight = roster.members.toSorted(
    (a, b) => Number(a.state === 'revoked') - Number(b.state === 'revoked'),
  )
  const stated = new Map(
    byWeight
      .filter(({ peer }) => roster.admitted.has(peer) || roster.revoked.has(peer))
      .map(({ peer, admin }) => [peer as string, admin]),
  )
  const members = [...stated].map(([peer, administrator]) => ({
    peer,
    name: nameOf(peer),
    state: roster.revoked.has(peer) ? ('revoked' as const) : ('admitted' as const),
    administrator,
  }))
  const provisional = [...roster.provisional].map(([peer, { admin }]) => ({
    peer,
    name: nameOf(peer),
    state: 'provisional' as const,
    administrator: admin,
  }))
  const waiting = trust
    .waiting()
    .filter((peer) => !stated.has(peer))
    .map((peer) => ({ peer, name: nameOf(peer), state: 'waiting' as const, administrator: undefined }))
  return {
    administrators,
    holdsKey,
    isRevoked: administration.isRevoked(ledger.self),
    members: [...members, ...provisional, ...waiting],
    invites: roster.invites.map((invite) => ({
      invite: invite.invite,
      administrator: invite.admin,
      label: invite.label,
      expiresAt: invite.expiresAt,
      state: stateOf(invite, now()),
      claims: invite.claims,
    })),
  }
}

/** Names peers: by what a machine announced, else what the peer said on a connection, else its invite's label. */
function namesOf(
  { members, invites, provisional }: Administration['roster'],
  { ledger, toldNames }: AccessComponents,
): (peer: string) => string {
  const [names, told] = [memberNames(ledger), toldNames()]
  const labels = new Map(invites.map(({ invite, label }) => [invite as string, label]))
  const used = new Map<string, string>()
  for (const { peer, use } of members) if (use !== undefined) used.set(peer, use.invite)
  for (const [peer, { invite }] of provisional) used.set(peer, invite)
  return (peer) => names.get(peer) ?? told.get(peer) ?? labels.get(used.get(peer) ?? '') ?? ''
}

function stateOf({ state, usedBy, claims, expiresAt }: Invite, now: number) {
  if (usedBy !== undefined) return 'used'
  if (state === 'cancelled') return 'cancelled'
  if (now >= expiresAt) return 'expired'
  return claims.length > 1 ? 'disputed' : 'open'
}
