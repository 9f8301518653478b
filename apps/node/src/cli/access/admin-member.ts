/** Admits and revokes members: `mesh admin admit`, `mesh admin approve`, `mesh admin revoke`. */
import { MeshError, tryParsePeerId } from '@mesh/core'
import type { AdmissionView } from '@mesh/api-contract'
import { printableJson } from '../../words/printable.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'

export const runAdminAdmit: Run = (call) => setMember(call, 'admitted')

export const runAdminApprove: Run = (call) => setMember(call, 'admitted', requireWaiting)

export const runAdminRevoke: Run = (call) => setMember(call, 'revoked')

async function setMember(
  call: Call,
  state: 'admitted' | 'revoked',
  check: (peer: string, admission: AdmissionView) => void = () => {},
): Promise<number> {
  const { positionals, settings, out } = call
  const client = await findNode(call)
  const admission = await client.getAdmission()
  const peer = findPeer(positionals[0] ?? '', admission)
  check(peer, admission)
  const seconds = Math.floor(settings.for / 1_000)
  const lasts = state === 'admitted' && seconds > 0 && { ForSeconds: seconds }
  const answer = await client.putMember({ peer, body: { State: state, ...lasts } })
  const after = (await client.getAdmission()).Members.find(({ PeerID }) => PeerID === peer)
  const other = state === 'admitted' && after?.State === 'revoked' ? after.Administrator : null
  if (other !== null) {
    throw new MeshError('trust.still_revoked', `${peer} stays shut out: the administrator ${other} said so`, {
      hint: 'What you said is kept, and counts once that administrator lets the peer in again.',
    })
  }
  const until = after?.EndsAt == null ? '' : ` until ${after.EndsAt}`
  const what = state === 'admitted' ? `is let in${until}` : 'is shut out'
  out(settings.json ? printableJson({ ...answer, PeerID: peer }) : `${peer} ${what}\n`)
  return 0
}

/** @throws MeshError `node.bad_input` */
function requireWaiting(peer: string, { Members }: AdmissionView): void {
  const state = Members.find(({ PeerID }) => PeerID === peer)?.State
  if (state === 'waiting') return
  throw new MeshError(
    'node.bad_input',
    `${peer} does not wait${state === undefined ? '' : `: it is ${state}`}`,
    {
      hint: '`mesh admin list` shows who waits; `mesh admin admit PEER` lets in any peer.',
    },
  )
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
