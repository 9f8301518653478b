/**
 * Which connections go when there are too many. Peers that have not proven anything have a small bound of their own, so
 * that they take no place of a member; members have the rest. Keys cost nothing, so the address with the most goes
 * first. Pure: a list in, a list out.
 */
import { LEAST_STAY_MS, MAX_UNPROVEN_PER_ADDRESS_PART } from './limits.ts'

export interface OpenConnection {
  readonly id: string
  readonly peer: string
  /** The group that it counts under: `addressGroupOf`. */
  readonly address: string
  /** This node dialled it, or a person configured its peer: it always has a place. */
  readonly isOurs: boolean
  readonly isMember: boolean
  /** When it opened, in ms of the monotonic clock. */
  readonly openedAt: number
  /** The time since when its peer is known as a member, in ms of the monotonic clock. */
  readonly knownSince: number
}

export interface ConnectionBounds {
  /** The most connections to members, those of this node's own dials included. */
  readonly maxConnections: number
  /** The most connections that others opened and that are not proven. */
  readonly maxUnproven: number
}

/** Gives the connections that have to close now. */
export function chooseSurplus(
  all: readonly OpenConnection[],
  { maxConnections, maxUnproven }: ConnectionBounds,
  now: number,
): readonly OpenConnection[] {
  const unproven = all.filter(({ isMember, isOurs }) => !isMember && !isOurs)
  const kept = all.length - unproven.length
  return [
    ...surplusUnproven(unproven, maxUnproven),
    ...surplusMembers(
      all.filter(({ isMember, isOurs }) => isMember && !isOurs),
      { tooMany: kept - maxConnections, now },
    ),
  ]
}

/** The oldest go first: a newcomer always has time to prove itself. */
function surplusUnproven(unproven: readonly OpenConnection[], most: number): readonly OpenConnection[] {
  const mostPerAddress = Math.ceil(most * MAX_UNPROVEN_PER_ADDRESS_PART)
  const left = byAddress(unproven)
  const surplus: OpenConnection[] = []
  let count = unproven.length
  for (;;) {
    const greatest = greatestOf(left)
    if (greatest === undefined || (count <= most && greatest.length <= mostPerAddress)) return surplus
    const oldest = greatest.reduce((a, b) => (b.openedAt < a.openedAt ? b : a))
    greatest.splice(greatest.indexOf(oldest), 1)
    surplus.push(oldest)
    count--
  }
}

/**
 * Chooses the member connections to close. At the address with the most, the longer known half stays. Of the others the longest open
 * connection closes, so that all take turns. A connection that has just opened closes only if all others have, too.
 */
function surplusMembers(
  members: readonly OpenConnection[],
  { tooMany, now }: { readonly tooMany: number; readonly now: number },
): readonly OpenConnection[] {
  if (tooMany <= 0) return []
  const left = byAddress(members)
  const surplus: OpenConnection[] = []
  while (surplus.length < tooMany) {
    const greatest = greatestOf(left)
    if (greatest === undefined) return surplus
    const younger = greatest
      .toSorted((a, b) => a.knownSince - b.knownSince)
      .slice(Math.floor(greatest.length / 2))
      .sort((a, b) => a.openedAt - b.openedAt)
    const [longest] = younger
    const goes = longest !== undefined && now - longest.openedAt >= LEAST_STAY_MS ? longest : younger.at(-1)
    if (goes === undefined) return surplus
    greatest.splice(greatest.indexOf(goes), 1)
    surplus.push(goes)
  }
  return surplus
}

function byAddress(connections: readonly OpenConnection[]): readonly OpenConnection[][] {
  return [...Map.groupBy(connections, ({ address }) => address).values()]
}

function greatestOf(groups: readonly OpenConnection[][]): OpenConnection[] | undefined {
  const greatest = groups.reduce<OpenConnection[]>((a, b) => (b.length > a.length ? b : a), [])
  return greatest.length === 0 ? undefined : greatest
}
