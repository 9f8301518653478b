/** `mesh admin init`, `invite`, `cancel`: who may use a network whose token names administrators. */
import { MeshError, systemRandom } from '@mesh/core'
import { encodeToken } from '@mesh/network'
import { createLogger } from '../../log/create-logger.ts'
import { printableJson } from '../../words/printable.ts'
import { stateFolder } from '../../settings/load-settings.ts'
import { adminKeyFile } from '../../state/admin-key.ts'
import { openKeyFile } from '../../state/identity.ts'
import { makeFolder } from '../../files/make-folder.ts'
import { requireNetwork } from '../../state/network.ts'
import { systemClock } from '@mesh/core'
import { dirname } from 'node:path'
import { asking } from '../asking.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'

export const runAdminInit: Run = async (call) => {
  const { settings, surroundings, command, out, note } = call
  const network = requireNetwork(settings, command.name, surroundings.environment)
  const file = adminKeyFile(settings, stateFolder(settings, surroundings), network.id)
  makeFolder(dirname(file))
  const log = createLogger(
    { format: 'human', levels: 'warn', color: false, debug: false },
    { clock: systemClock, write: (line) => note(line.trimEnd()) },
  )
  const { id } = openKeyFile(file, systemRandom, log)
  const before = network.config.administrators ?? []
  const administrators = before.includes(id) ? before : [...before, id]
  const token = encodeToken({ ...network.config, administrators })
  out(settings.json ? printableJson({ Administrator: id, KeyFile: file, Token: token }, 2) : `${token}\n`)
  note(`Administrator ${id}; its key is in ${file}: keep a copy in a safe place.`)
  note('Give every machine this token and restart its node; who is not let in then stays outside.')
  return 0
}

export const runAdminInvite: Run = async (call) => {
  const { settings, out, note } = call
  const client = await findNode(call)
  const { expires, label, memberFor } = settings
  const body = {
    LifeSeconds: Math.floor(expires / 1_000),
    ...(label !== undefined && { Label: label }),
    ...(memberFor > 0 && { MemberForSeconds: Math.floor(memberFor / 1_000) }),
  }
  const invite = await client.createInvite({ body })
  if (settings.json) out(printableJson(invite, 2))
  else {
    out(`${invite.Code}\n`)
    note(`For one machine, until ${invite.ExpiresAt}: mesh --token-file FILE --invite CODE`)
    note(`As a link, which --invite takes as well: ${invite.Link}`)
  }
  return 0
}

export const runAdminApproval: Run = async (call) => {
  const { positionals, settings, out } = call
  const word = positionals[0] ?? ''
  if (word !== 'on' && word !== 'off')
    throw new MeshError('node.bad_input', `${JSON.stringify(word)} is neither on nor off`, {
      hint: 'Say `mesh admin approval on` or `mesh admin approval off`.',
    })
  const client = await findNode(call)
  await client.putApproval({ body: { Required: word === 'on' } })
  const { NeedsApproval } = await client.getAdmission()
  if (settings.json) out(printableJson({ NeedsApproval }))
  else out(NeedsApproval ? 'invites need approval\n' : 'invites need no approval\n')
  if (NeedsApproval && word === 'off') call.note('Another administrator still asks for approval.')
  return 0
}

export const runAdminCancel = asking(
  (client, { positionals }) => client.cancelInvite({ invite: positionals[0] ?? '' }),
  () => 'cancelled\n',
  {},
)
