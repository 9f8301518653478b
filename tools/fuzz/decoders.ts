/** Every decoder of the node that takes what others send, or what a person gives. */
import type { Decoder } from './decoder.ts'
import { openHttpDecoder } from './decoders/http.ts'
import { ledgerDecoders } from './decoders/ledger.ts'
import { MEMBER_DECODERS } from './decoders/members.ts'
import { NETWORK_DECODERS } from './decoders/network.ts'
import { PERSON_DECODERS } from './decoders/person.ts'

/** Opens what the decoders need; each is to be stopped by its `stop`. */
export async function openDecoders(): Promise<readonly Decoder[]> {
  return [
    ...NETWORK_DECODERS,
    ...ledgerDecoders(),
    ...MEMBER_DECODERS,
    ...PERSON_DECODERS,
    await openHttpDecoder(),
  ]
}
