/** The traffic of the last hour: joining what was read in parts, and figures of it. */
import type { TrafficHistoryView } from '@mesh/api-contract'

export type Flow = TrafficHistoryView['Peers'][number]
export type Direction = 'in' | 'out' | 'both'

const SECONDS_KEPT = 60 * 60

/** The number of the step that a history ends with. */
function endOf({ Until, StepSeconds }: TrafficHistoryView): number {
  return Math.round(Date.parse(Until) / 1_000 / StepSeconds)
}

/** How many steps to ask for, to go on after what is known; the last one known comes again. */
export function stepsSince(known: TrafficHistoryView, now: number): number {
  return Math.max(2, Math.ceil(now / 1_000 / known.StepSeconds) - endOf(known) + 1)
}

/** Adds later steps to those that are known; undefined where steps between them are missing. */
export function joinHistory(
  known: TrafficHistoryView,
  later: TrafficHistoryView,
): TrafficHistoryView | undefined {
  const added = endOf(later) - endOf(known)
  if (later.StepSeconds !== known.StepSeconds || added < 0 || added > later.In.length) return undefined
  const [before, kept] = [known.In.length, SECONDS_KEPT / known.StepSeconds]
  const join = (old: readonly number[] = zeros(before), fresh: readonly number[] = zeros(later.In.length)) =>
    [...old, ...fresh.slice(fresh.length - added)].slice(-kept)
  const joinFlows = (old: readonly Flow[], fresh: readonly Flow[]): Flow[] => {
    const [was, is] = [byId(old), byId(fresh)]
    return [...new Set([...was.keys(), ...is.keys()])].map((ID) => ({
      ID,
      In: join(was.get(ID)?.In, is.get(ID)?.In),
      Out: join(was.get(ID)?.Out, is.get(ID)?.Out),
    }))
  }
  const drops = new Map(known.Vpn?.Drops.map((drop) => [drop.Reason, drop]))
  return {
    ...later,
    In: join(known.In, later.In),
    Out: join(known.Out, later.Out),
    Peers: joinFlows(known.Peers, later.Peers),
    Protocols: joinFlows(known.Protocols, later.Protocols),
    Vpn: later.Vpn && {
      In: join(known.Vpn?.In, later.Vpn.In),
      Out: join(known.Vpn?.Out, later.Vpn.Out),
      Drops: later.Vpn.Drops.map((drop) => ({
        ...drop,
        Dropped: join(drops.get(drop.Reason)?.Dropped, drop.Dropped),
      })),
    },
  }
}

function byId(flows: readonly Flow[]): ReadonlyMap<string, Flow> {
  return new Map(flows.map((flow) => [flow.ID, flow]))
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0)
}

/** When each step ended, Unix seconds. */
export function timesOf(history: TrafficHistoryView): number[] {
  const end = endOf(history)
  return history.In.map((_, at) => (end - history.In.length + 1 + at) * history.StepSeconds)
}

/** The rates of a flow in the wanted direction. */
export function ratesOf({ In, Out }: Pick<Flow, 'In' | 'Out'>, direction: Direction): readonly number[] {
  if (direction === 'in') return In
  return direction === 'out' ? Out : In.map((rate, at) => rate + (Out[at] ?? 0))
}

export function sumOf(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0)
}

export interface NamedSeries {
  readonly id: string
  readonly rates: readonly number[]
}

/** The flows with the most traffic, and all others as one with the empty id. */
export function largestFlows(
  flows: readonly Flow[],
  direction: Direction,
  most: number,
): readonly NamedSeries[] {
  const series = flows.map((flow) => ({ id: flow.ID, rates: ratesOf(flow, direction) }))
  const ranked = series
    .filter(({ id, rates }) => id !== '' && rates.some((rate) => rate > 0))
    .toSorted((a, b) => sumOf(b.rates) - sumOf(a.rates))
  const rest = [...ranked.slice(most), ...series.filter(({ id }) => id === '')]
  const others = (rest[0]?.rates ?? []).map((_, at) =>
    rest.reduce((sum, { rates }) => sum + (rates[at] ?? 0), 0),
  )
  return [...ranked.slice(0, most), ...(sumOf(others) > 0 ? [{ id: '', rates: others }] : [])]
}

/** Each series on top of those before it. */
export function stackSeries(series: readonly (readonly number[])[]): number[][] {
  let below: readonly number[] = []
  return series.map((rates) => {
    const top = rates.map((rate, at) => rate + (below[at] ?? 0))
    below = top
    return top
  })
}
