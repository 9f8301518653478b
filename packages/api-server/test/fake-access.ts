/** A peer gate and administrators that answer as they are asked. */
import type { AccessPort } from '../src/index.ts'
import { PEER } from './fixture.ts'

export function createFakeAccess(): AccessPort {
  let enabled = false
  const listeners = new Set<() => void>()
  return {
    gate: () => ({
      enabled,
      set(state) {
        enabled = state
        for (const listener of listeners) listener()
      },
    }),
    admission: () => ({
      Administrators: [PEER],
      NeedsApproval: false,
      HoldsKey: true,
      Revoked: false,
      Members: [{ PeerID: PEER, Name: 'nas', State: 'waiting', Administrator: null, EndsAt: null }],
      Invites: [
        {
          Invite: PEER,
          Administrator: PEER,
          Label: 'laptop',
          ExpiresAt: '2026-01-01T00:00:00.000Z',
          MemberForSeconds: null,
          State: 'open',
          Claims: [],
        },
      ],
    }),
    setMember() {},
    setApproval() {},
    invite: ({ lifeMs = 0, label }) => ({
      code: `mesh-invite-${label}`,
      link: `mesh://join/mesh-invite-${label}`,
      invite: PEER,
      expiresAt: lifeMs,
    }),
    cancelInvite() {},
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
