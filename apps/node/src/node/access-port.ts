/** The peer gate and the administrators as the API shows them. */
import type { AccessPort, AdmissionState } from '@mesh/api-server'
import { MeshError } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { Administration, Invite, Trust } from '@mesh/trust'
import { memberNames } from './member-names.ts'

interface AccessComponents {
  readonly trust: Trust
  readonly ledger: Ledger
  readonly now: () => number
}

export function createAccessPort({ trust, ledger, now }: AccessComponents): AccessPort {
  const { administration } = trust
  const required = () => {
    if (administration !== undefined) return administration
    throw new MeshError('trust.no_administrators', 'this network has no administrators')
  }
  return {
    gate: () => trust.gate,
    admission: () =>
      administration === undefined ? undefined : describe(administration, { trust, ledger, now }),
    setMember: (peer, state) => required().setMember(peer, state),
    invite: (init) => required().invite(init),
    cancelInvite: (invite) => required().cancelInvite(invite),
    subscribe: (listener) => trust.onChange(listener),
  }
}

function describe(administration: Administration, { trust, ledger, now }: AccessComponents): AdmissionState {
  const { roster, administrators, holdsKey } = administration
  const names = memberNames(ledger)
  const nameOf = (peer: string) => names.get(peer) ?? ''
  const stated = new Map(roster.members.map(({ peer, admin }) => [peer as string, admin]))
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

function stateOf({ state, usedBy, claims, expiresAt }: Invite, now: number) {
  if (usedBy !== undefined) return 'used'
  if (state === 'cancelled') return 'cancelled'
  if (claims.length > 1) return 'disputed'
  return now < expiresAt ? 'open' : 'expired'
}
