import { hkdfSync } from 'node:crypto'
import { type PeerId } from '@mesh/core'
import { framed } from '../keys/secrets.ts'

/** The keys of the probes between two peers, one for each direction. */
export interface ProbeKeys {
  readonly send: Uint8Array
  readonly receive: Uint8Array
}

/** @param secrets 32 bytes of each end, which travelled on the control stream between the two */
export function deriveProbeKeys(
  { self, peer }: { readonly self: PeerId; readonly peer: PeerId },
  { own, theirs }: { readonly own: Uint8Array; readonly theirs: Uint8Array },
): ProbeKeys {
  const secret = self < peer ? Buffer.concat([own, theirs]) : Buffer.concat([theirs, own])
  const salt = self < peer ? framed(self, peer) : framed(peer, self)
  const key = (sender: PeerId) => {
    const info = Buffer.concat([Buffer.from('mesh path 1'), framed(sender)])
    return new Uint8Array(hkdfSync('sha256', secret, salt, info, 32))
  }
  return { send: key(self), receive: key(peer) }
}
