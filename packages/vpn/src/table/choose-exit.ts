/**
 * Which member this node's default routes go through: the one that a person named, and no other. A name or address
 * counts once: from then on it stands for the peer that had it (`pinned`), whoever claims it later. Pure.
 */
import { type IpAddress, type PeerId, tryParseIp, tryParsePeerId } from '@mesh/core'
import type { ExitFault, IpFamily } from '../vpn.ts'

export interface ExitWish {
  /** A peer id, an address of the VPN, or a name, as the person wrote it. */
  readonly wanted: string
  /** The peer that it stood for when it was found first. */
  readonly pinned: PeerId | undefined
}

/** A member that says it is an exit. */
export interface ExitOffer {
  readonly peer: PeerId
  readonly hostname: string
  /** The families that it forwards. */
  readonly families: readonly IpFamily[]
  /** The faults of its machine that it told. */
  readonly faults: readonly ExitFault[]
}

export type ExitChoice =
  | { readonly state: 'chosen'; readonly offer: ExitOffer }
  /** Nobody is called so, or it is away for so long that the ledger forgot it. */
  | { readonly state: 'unknown'; readonly peer: PeerId | undefined }
  /** The member is there, and is no exit. */
  | { readonly state: 'notOffered'; readonly peer: PeerId }
  /** Names prove nothing, and several offers have this one. */
  | { readonly state: 'ambiguous'; readonly peers: readonly PeerId[] }

interface Known {
  readonly offers: ReadonlyMap<PeerId, ExitOffer>
  readonly isPeer: (peer: PeerId) => boolean
  readonly ownerOf: (address: IpAddress) => PeerId | undefined
}

export function chooseExit({ wanted, pinned }: ExitWish, known: Known): ExitChoice {
  const { offers, isPeer, ownerOf } = known
  const address = tryParseIp(wanted)
  const named = pinned ?? tryParsePeerId(wanted) ?? (address && ownerOf(address))
  if (named !== undefined) {
    const offer = offers.get(named)
    if (offer !== undefined) return { state: 'chosen', offer }
    return isPeer(named) ? { state: 'notOffered', peer: named } : { state: 'unknown', peer: named }
  }
  const same = [...offers.values()].filter(
    ({ hostname }) => hostname !== '' && hostname.toLowerCase() === wanted.toLowerCase(),
  )
  const [offer, second] = same
  if (offer === undefined) return { state: 'unknown', peer: undefined }
  if (second !== undefined) return { state: 'ambiguous', peers: same.map(({ peer }) => peer) }
  return { state: 'chosen', offer }
}
