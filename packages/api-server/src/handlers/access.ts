/** The peer gate and the administrators of the network, as the rest of the node hands them in. */
import { type PeerId, tryParsePeerId } from '@mesh/core'
import { Problem } from '../messages/problem.ts'
import type { AccessPort } from '../ports.ts'
import type { HandlersOf } from './handler.ts'

type AccessRoutes =
  | 'getPeergate'
  | 'putPeergate'
  | 'getAdmission'
  | 'putMember'
  | 'putApproval'
  | 'createInvite'
  | 'cancelInvite'

const NOBODY = {
  Administrators: [],
  NeedsApproval: false,
  HoldsKey: false,
  Revoked: false,
  Members: [],
  Invites: [],
}

export function createAccess(access: AccessPort | undefined): HandlersOf<AccessRoutes> {
  const gate = () => {
    const port = access?.gate()
    if (port === undefined) throw new Problem('trust.no_peerguard')
    return port
  }
  const administrators = () => {
    if (access === undefined || access.admission() === undefined) throw new Problem('trust.no_administrators')
    return access
  }
  return {
    getPeergate: () => gate().enabled,
    putPeergate({ state }) {
      gate().set(state === 'enable')
      return gate().enabled
    },
    getAdmission() {
      const its = access?.gate()
      const admission = access?.admission() ?? NOBODY
      return { Peerguard: its !== undefined, Gate: its?.enabled ?? false, ...admission }
    },
    putMember({ peer, body }) {
      const { State, ForSeconds } = body
      administrators().setMember(parseKey(peer, 'peer'), State, { forMs: inMs(ForSeconds) })
      return { State: 'Stated' }
    },
    putApproval({ body }) {
      administrators().setApproval(body.Required)
      return { State: 'Stated' }
    },
    createInvite({ body }) {
      const lifeMs = body.LifeSeconds === undefined ? {} : { lifeMs: body.LifeSeconds * 1_000 }
      const { code, link, invite, expiresAt } = administrators().invite({
        ...lifeMs,
        label: body.Label ?? '',
        memberForMs: inMs(body.MemberForSeconds),
      })
      return { Code: code, Link: link, Invite: invite, ExpiresAt: new Date(expiresAt).toISOString() }
    },
    cancelInvite({ invite }) {
      administrators().cancelInvite(parseKey(invite, 'invite'))
      return { State: 'Stated' }
    },
  }
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000
}

function parseKey(text: string, field: string): PeerId {
  const peer = tryParsePeerId(text)
  if (peer !== undefined) return peer
  throw new Problem('http.bad_path', `${field} is no peer id`, {
    issues: [{ field, value: text, expected: 'a peer id: 52 characters that begin with 12D3KooW' }],
  })
}
