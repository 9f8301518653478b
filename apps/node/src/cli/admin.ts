/** `mesh admin`: who may use a network whose token names administrators. */
import { MeshError, shortPeerId, systemRandom, tryParsePeerId } from '@mesh/core'
import type { AdmissionView } from '@mesh/api-contract'
import { encodeToken } from '@mesh/network'
import { createLogger } from '../log/create-logger.ts'
import { printable, printableJson } from '../log/printable.ts'
import { stateFolder } from '../settings/load-settings.ts'
import { adminKeyFile } from '../state/admin-key.ts'
import { openKeyFile } from '../state/identity.ts'
import { makeFolder } from '../state/make-folder.ts'
import { requireNetwork } from '../state/network.ts'
import { systemClock } from '@mesh/core'
import { dirname } from 'node:path'
import type { Call, Run } from './command.ts'
import { findNode } from './find-node.ts'
import { formatTable } from './format-table.ts'

export const runAdminInit: Run = async (call) => {
  const { settings, surroundings, command, out, note } = call
  const network = requireNetwork(settings, command.name)
  const file = adminKeyFile(settings, stateFolder(settings, surroundings), network.id)
  makeFolder(dirname(file))
  const log = createLogger(
    { format: 'human', levels: 'warn', color: false, debug: false },
    { clock: systemClock, write: (line) => note(line.trimEnd()) },
  )
  const { id } = openKeyFile(file, systemRandom, log)
  const before = network.config.administrators ?? []
  const administrators = before.includes(id) ? before : [...before, id]
  out(`${encodeToken({ ...network.config, administrators })}\n`)
  note(`Administrator ${id}; its key is in ${file}: keep a copy in a safe place.`)
  note('Give every machine this token and restart its node; who is not let in then stays outside.')
  return 0
}

export const runAdminInvite: Run = async (call) => {
  const { settings, out, note } = call
  const client = await findNode(call)
  const { expires, label } = settings
  const body = { LifeSeconds: Math.floor(expires / 1_000), ...(label !== undefined && { Label: label }) }
  const invite = await client.createInvite({ body })
  if (settings.json) out(printableJson(invite, 2))
  else {
    out(`${invite.Code}\n`)
    note(`For one machine, until ${invite.ExpiresAt}: mesh --token-file FILE --invite CODE`)
  }
  return 0
}

export const runAdminCancel: Run = async (call) => {
  const { positionals, settings, out } = call
  const answer = await (await findNode(call)).cancelInvite({ invite: positionals[0] ?? '' })
  out(settings.json ? printableJson(answer) : 'cancelled\n')
  return 0
}

export const runAdminAdmit: Run = (call) => setMember(call, 'admitted')
export const runAdminRevoke: Run = (call) => setMember(call, 'revoked')

async function setMember(call: Call, state: 'admitted' | 'revoked'): Promise<number> {
  const { positionals, settings, out } = call
  const client = await findNode(call)
  const peer = findPeer(positionals[0] ?? '', await client.getAdmission())
  const answer = await client.putMember({ peer, body: { State: state } })
  const after = (await client.getAdmission()).Members.find(({ PeerID }) => PeerID === peer)
  const other = state === 'admitted' && after?.State === 'revoked' ? after.Administrator : null
  if (other !== null) {
    throw new MeshError('trust.still_revoked', `${peer} stays shut out: the administrator ${other} said so`, {
      hint: 'What you said is kept, and counts once that administrator lets the peer in again.',
    })
  }
  const what = state === 'admitted' ? 'is let in' : 'is shut out'
  out(settings.json ? printableJson({ ...answer, PeerID: peer }) : `${peer} ${what}\n`)
  return 0
}

/** @throws MeshError `node.bad_input` */
function findPeer(name: string, { Members }: AdmissionView): string {
  if (tryParsePeerId(name) !== undefined) return name
  const named = Members.filter((member) => member.Name.toLowerCase() === name.toLowerCase())
  const [peer, second] = named
  if (peer !== undefined && second === undefined) return peer.PeerID
  throw new MeshError(
    'node.bad_input',
    peer === undefined
      ? `no member is called ${JSON.stringify(name)}`
      : `${named.length} members are called ${JSON.stringify(name)}`,
    { hint: '`mesh admin list` has their peer ids.' },
  )
}

export const runAdminList: Run = async (call) => {
  const view = await (await findNode(call)).getAdmission()
  call.out(call.settings.json ? printableJson(view, 2) : formatAdmission(view))
  return 0
}

function formatAdmission({ Administrators, HoldsKey, Members, Invites }: AdmissionView): string {
  if (Administrators.length === 0) {
    return 'This network has no administrators: whoever has its token is in. `mesh admin init` makes one.\n'
  }
  const key = HoldsKey ? '; this node holds the key' : ''
  const members = Members.map(({ PeerID, Name, State }) => [printable(Name), State, PeerID])
  const invites = Invites.map(({ Invite, Label, State, ExpiresAt, Claims }) => [
    printable(Label),
    State,
    ExpiresAt,
    Claims.map((peer) => shortPeerId(peer)).join(' '),
    Invite,
  ])
  return [
    `Administrators: ${Administrators.join(', ')}${key}\n`,
    formatTable(['NAME', 'STATE', 'PEER'], members),
    ...(invites.length === 0
      ? []
      : [formatTable(['LABEL', 'STATE', 'EXPIRES', 'USED BY', 'INVITE'], invites)]),
  ].join('\n')
}
