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
      administrators: [PEER],
      holdsKey: true,
      isRevoked: false,
      members: [{ peer: PEER, name: 'nas', state: 'waiting', administrator: undefined }],
      invites: [
        {
          invite: PEER,
          administrator: PEER,
          label: 'laptop',
          expiresAt: Date.UTC(2026, 0, 1),
          state: 'open',
          claims: [],
        },
      ],
    }),
    setMember() {},
    invite: ({ lifeMs = 0, label }) => ({ code: `mesh-invite-${label}`, invite: PEER, expiresAt: lifeMs }),
    cancelInvite() {},
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
