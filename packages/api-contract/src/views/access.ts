/** Who may use the network. */
import * as z from 'zod'
import { later } from '../later.ts'
import { peerId } from './fields.ts'

const time = () => z.string().meta({ description: 'RFC 3339, UTC.' })

export const admissionView = later(() =>
  z
    .object({
      Peerguard: z.boolean().meta({ description: 'This node has a peer gate.' }),
      Gate: z.boolean().meta({ description: 'The gate is on.' }),
      Administrators: z.array(peerId()).meta({
        description: 'Their public keys as peer ids; none: anyone who has the token is in.',
      }),
      NeedsApproval: z.boolean().meta({
        description: 'An invite brings a machine to `waiting` only, until an administrator lets it in.',
      }),
      HoldsKey: z.boolean().meta({ description: "This node holds an administrator's key." }),
      Revoked: z.boolean().meta({ description: 'This node itself was shut out.' }),
      Members: z.array(
        z.object({
          PeerID: peerId(),
          Name: z.string(),
          State: z.enum(['admitted', 'provisional', 'revoked', 'waiting', 'ended']).meta({
            description:
              'provisional: it used an invite, and is in until that ends or it is confirmed; waiting: it has the token, or an invite that needs approval, and is not in; ended: it was in until EndsAt.',
          }),
          Administrator: peerId().nullable(),
          EndsAt: time().nullable().meta({
            description: 'When its membership ends, or ended. Null: it does not end.',
          }),
        }),
      ),
      Invites: z.array(
        z.object({
          Invite: peerId(),
          Administrator: peerId(),
          Label: z.string(),
          ExpiresAt: time(),
          MemberForSeconds: z.number().nullable().meta({
            description: 'How long the machine that uses it is a member. Null: for good.',
          }),
          State: z.enum(['open', 'used', 'expired', 'cancelled', 'disputed']).meta({
            description: 'disputed: several peers used it, so none is in by it.',
          }),
          Claims: z.array(peerId()),
        }),
      ),
    })
    .meta({ id: 'Admission' }),
)
export type AdmissionView = z.output<ReturnType<typeof admissionView>>

export const inviteCodeView = later(() =>
  z
    .object({
      Code: z.string(),
      Link: z.string().meta({
        description: 'The code as a link, `mesh://join/CODE`: `mesh --invite` takes both.',
      }),
      Invite: peerId(),
      ExpiresAt: time(),
    })
    .meta({ id: 'InviteCode' }),
)

export const statedView = later(() => z.object({ State: z.literal('Stated') }).meta({ id: 'Stated' }))
