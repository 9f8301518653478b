/** `mesh admin list`: administrators, members, invites. */
import { printable, shortPeerId } from '@mesh/core'
import type { AdmissionView } from '@mesh/api-contract'
import { asking } from '../asking.ts'
import { formatTable } from '../format-table.ts'

export const runAdminList = asking((client) => client.getAdmission(), formatAdmission)

function formatAdmission({
  Administrators,
  NeedsApproval,
  HoldsKey,
  Members,
  Invites,
}: AdmissionView): string {
  if (Administrators.length === 0) {
    return 'This network has no administrators: anyone who has its token is in. `mesh admin init` makes one.\n'
  }
  const key = HoldsKey ? '; this node holds the key' : ''
  const members = Members.map(({ PeerID, Name, State, EndsAt }) => [
    printable(Name),
    State,
    EndsAt ?? '',
    PeerID,
  ])
  const invites = Invites.map(({ Invite, Label, State, ExpiresAt, Claims }) => [
    printable(Label),
    State,
    ExpiresAt,
    Claims.map((peer) => shortPeerId(peer)).join(' '),
    Invite,
  ])
  return [
    `Administrators: ${Administrators.join(', ')}${key}\n`,
    ...(NeedsApproval
      ? ['Invites need approval: `mesh admin approve PEER` lets a waiting machine in.\n']
      : []),
    formatTable(['NAME', 'STATE', 'ENDS', 'PEER'], members),
    ...(invites.length === 0
      ? []
      : [formatTable(['LABEL', 'STATE', 'EXPIRES', 'USED BY', 'INVITE'], invites)]),
  ].join('\n')
}
