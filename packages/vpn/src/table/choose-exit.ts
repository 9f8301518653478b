/**
 * Which member this node's default routes go through: one that a person named, and no other. A name or address counts once:
 * from then on it stands for the peer that had it (`pinned`), even when others claim it later. Of several that were named the
 * first one that is reached is chosen, in their order; of `any`, the one in use as long as it is reached. Pure.
 */
import { type IpAddress, type PeerId, tryParseIp, tryParsePeerId } from '@mesh/core'
import type { ExitFault, IpFamily } from '../vpn.ts'
import type { PeerReach } from './peer-reach.ts'

/** The word for every member that offers to be an exit. */
const ANY_EXIT = 'any'

export interface ExitWish {
  /** Peer ids, addresses of the VPN or names with commas between them, as the person wrote them; or `any`. */
  readonly wanted: string
  /** The peers that these stood for when they were found first, in the same order. */
  readonly pinned: readonly (PeerId | undefined)[]
  /** The one in use. */
  readonly current?: PeerId | undefined
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

/** The outcome for one name. */
type OneChoice =
  | { readonly state: 'chosen'; readonly offer: ExitOffer }
  /** Nobody is called so, or it is away for so long that the ledger forgot it. */
  | { readonly state: 'unknown'; readonly peer: PeerId | undefined }
  /** The member is there, and is no exit. */
  | { readonly state: 'notOffered'; readonly peer: PeerId }
  /** Names prove nothing, and several offers have this one. */
  | { readonly state: 'ambiguous'; readonly peers: readonly PeerId[] }

type ChosenExit = Extract<OneChoice, { readonly state: 'chosen' }> & {
  /** The others that would take over, the next one first. */
  readonly standby: readonly PeerId[]
  /** The peers that the names stand for now, in their order. */
  readonly pinned: readonly (PeerId | undefined)[]
}

export type ExitChoice = ChosenExit | Exclude<OneChoice, { readonly state: 'chosen' }>

interface Known {
  readonly offers: ReadonlyMap<PeerId, ExitOffer>
  readonly isPeer: (peer: PeerId) => boolean
  readonly ownerOf: (address: IpAddress) => PeerId | undefined
  /** Default: all are reached. */
  readonly reachOf?: ((peer: PeerId) => PeerReach) | undefined
}

export function chooseExit(wish: ExitWish, known: Known): ExitChoice {
  const { wanted, pinned, current } = wish
  const isAny = wanted === ANY_EXIT
  const choices = isAny
    ? [...known.offers.values()].map((offer): OneChoice => ({ state: 'chosen', offer }))
    : namesIn(wanted).map((name, at) => chooseOne(name, pinned[at], known))
  const offers = choices.flatMap((choice) => (choice.state === 'chosen' ? [choice.offer] : []))
  const ordered = [...new Map(offers.map((offer) => [offer.peer, offer])).values()]
    .map((offer, at) => ({ offer, keys: keysOf(offer, isAny ? 0 : at, { current, known }) }))
    .toSorted((one, other) => compare(one.keys, other.keys))
    .map(({ offer }) => offer)
  const [offer, ...others] = ordered
  if (offer === undefined) return noneOf(choices)
  const pins = isAny ? [] : choices.map((choice, at) => pinOf(choice) ?? pinned[at])
  return { state: 'chosen', offer, standby: others.map(({ peer }) => peer), pinned: pins }
}

function namesIn(wanted: string): readonly string[] {
  return wanted.split(',').map((name) => name.trim())
}

function chooseOne(wanted: string, pinned: PeerId | undefined, known: Known): OneChoice {
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

/** The least in the first key that differs is the best. */
function keysOf(
  { peer, families, faults }: ExitOffer,
  at: number,
  { current, known }: { readonly current: PeerId | undefined; readonly known: Known },
): readonly (number | string)[] {
  const { isUp, isSteady, rttMs } = known.reachOf?.(peer) ?? { isUp: true, isSteady: true, rttMs: 0 }
  const isCurrent = peer === current
  return [
    !isUp ? 2 : isSteady || isCurrent ? 0 : 1,
    at,
    faults.length > 0 || families.length < 2 ? 1 : 0,
    isCurrent ? 0 : 1,
    rttMs ?? Number.MAX_VALUE,
    peer,
  ]
}

function compare(one: readonly (number | string)[], other: readonly (number | string)[]): number {
  const at = one.findIndex((key, index) => key !== other[index])
  if (at === -1) return 0
  return (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
}

/** Chooses what to tell of several names that choose nobody: the one whose member is there tells most. */
function noneOf(choices: readonly OneChoice[]): ExitChoice {
  const states = ['ambiguous', 'notOffered', 'unknown'] as const
  for (const state of states) for (const choice of choices) if (choice.state === state) return choice
  return { state: 'unknown', peer: undefined }
}

function pinOf(choice: OneChoice): PeerId | undefined {
  return choice.state === 'chosen' ? choice.offer.peer : undefined
}
