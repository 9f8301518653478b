/** The claim with which a node uses an invite: made from its code, and said as soon as the node has heard of the invite. */
import type { PeerId } from '@mesh/core'
import type { Signer } from '@mesh/ledger'
import { parseInviteCode } from './invite-code.ts'
import type { Invite } from './roster.ts'
import { claimBytes, writeClaim, type Writing } from './statements.ts'

export interface InviteClaim {
  readonly invite: PeerId
  readonly writing: Writing
}

/** @throws MeshError `trust.bad_invite` */
export function buildClaim(code: string, { network, self, signerOf }: ClaimInit): InviteClaim {
  const signer = signerOf(parseInviteCode(code))
  const invite = signer.peerId
  const sig = signer.sign(claimBytes(network, { invite, peer: self }))
  return { invite, writing: writeClaim(network, { invite, peer: self, sig }) }
}

interface ClaimInit {
  readonly network: string
  readonly self: PeerId
  /** Gives the signer of a seed. */
  readonly signerOf: (seed: Uint8Array) => Signer
}

/** Says why an invite does not let a peer in any more; undefined while it may. */
export function whyNoUse(
  { state, expiresAt, usedBy }: Invite,
  { peer, now }: { readonly peer: PeerId; readonly now: number },
): string | undefined {
  if (usedBy === peer) return undefined
  if (usedBy !== undefined) return 'another peer used it'
  if (state === 'cancelled') return 'it was cancelled'
  return now < expiresAt ? undefined : 'it has expired'
}
