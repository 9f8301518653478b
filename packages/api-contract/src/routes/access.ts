/** Who may use the network: the peer gate of this node, and what administrators say. */
import * as z from 'zod'
import { later } from '../later.ts'
import { routesOf } from '../route.ts'
import { admissionView, inviteCodeView, statedView } from '../views/access.ts'
import { json } from './answers.ts'

const gateErrors = ['trust.no_peerguard'] as const
const adminErrors = [
  'trust.no_administrators',
  'trust.no_admin_key',
  'trust.foreign_admin_key',
  'trust.not_stated',
] as const
const peerIdText = z
  .string()
  .max(64)
  .meta({ example: '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB' })

const memberSeconds = z
  .number()
  .int()
  .min(60)
  .max(315_360_000)
  .meta({ description: 'How long the machine is a member, in seconds; left out: for good.' })

const route = routesOf('access')

export const accessRoutes = {
  getPeergate: route('GET /api/peergate', {
    summary: 'Whether the peer gate is on; served by nodes with --peerguard',
    answer: json(
      later(() => z.boolean()),
      'The state.',
    ),
    errors: gateErrors,
  }),
  putPeergate: route('PUT /api/peergate/:state', {
    level: 'admin',
    summary: 'Switch the peer gate; served by nodes with --peerguard',
    params: z.object({ state: z.enum(['enable', 'disable']) }),
    answer: json(
      later(() => z.boolean()),
      'The new state.',
    ),
    errors: gateErrors,
  }),
  getAdmission: route('GET /api/admission', {
    summary: 'Administrators of the network, who is in, invites, and who waits to be let in',
    answer: json(admissionView, 'As this node knows it.'),
    errors: [],
  }),
  putMember: route('PUT /api/admission/members/:peer', {
    level: 'admin',
    isLocal: true,
    summary: "Let a peer in, or shut it out, with the administrator's key that this node holds",
    params: z.object({ peer: peerIdText }),
    body: z
      .object({ State: z.enum(['admitted', 'revoked']), ForSeconds: memberSeconds.optional() })
      .meta({ id: 'MemberRequest' }),
    answer: json(statedView, 'It is in the ledger.'),
    errors: [...adminErrors, 'trust.own_node'],
  }),
  createInvite: route('POST /api/admission/invites', {
    level: 'admin',
    isLocal: true,
    summary: 'Make an invite, with which one peer may let itself in until it ends',
    body: z
      .object({
        LifeSeconds: z.number().int().min(60).max(2_592_000).optional(),
        Label: z.string().max(64).optional(),
        MemberForSeconds: memberSeconds.optional(),
      })
      .meta({ id: 'InviteRequest' }),
    answer: json(inviteCodeView, 'The code is shown this once.'),
    errors: adminErrors,
  }),
  putApproval: route('PUT /api/admission/approval', {
    level: 'admin',
    isLocal: true,
    summary: 'Ask for approval of each machine that uses an invite, or let invites be enough again',
    body: z.object({ Required: z.boolean() }).meta({ id: 'ApprovalRequest' }),
    answer: json(statedView, 'It is in the ledger.'),
    errors: adminErrors,
  }),
  cancelInvite: route('DELETE /api/admission/invites/:invite', {
    level: 'admin',
    isLocal: true,
    summary: 'Cancel an invite; who used it and was confirmed stays in',
    params: z.object({ invite: peerIdText }),
    answer: json(statedView, 'It is in the ledger.'),
    errors: [...adminErrors, 'trust.unknown_invite'],
  }),
} as const
