import { type NetworkMap, outlinedSites } from '../../model/network-map.ts'
import type { Point } from '../../model/map-view.ts'
import type { LayoutInput } from './layout.ts'
import type { LayoutAnswer, LayoutRequest } from './layout.worker.ts'

export type Places = ReadonlyMap<string, Point>

export interface LayoutClient {
  /** Finds places for the nodes. False: nodes and links are the same as before, and so are their places. */
  arrange(map: NetworkMap, aspect: number): boolean
  stop(): void
}

/** Finds places in a worker. @param onPlaces gets each picture on the way and the one at the end */
export function createLayoutClient(onPlaces: (places: Places, isSettled: boolean) => void): LayoutClient {
  const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' })
  let input: LayoutInput = { ids: [], links: new Uint32Array(), sites: [], aspect: 1 }
  let round = 0
  const send = (request: LayoutRequest) => worker.postMessage(request)
  worker.addEventListener('message', ({ data }: MessageEvent<LayoutAnswer>) => {
    if (data.round !== round) return
    if (!data.isSettled) send({ round })
    const place = (at: number) => ({ x: data.places[2 * at] ?? 0, y: data.places[2 * at + 1] ?? 0 })
    onPlaces(new Map(input.ids.map((id, at) => [id, place(at)])), data.isSettled)
  })
  return {
    arrange(map, aspect) {
      const next = { ...layoutInputOf(map), aspect }
      if (isSame(next, input)) return false
      input = next
      send({ round: ++round, input })
      return true
    },
    stop: () => worker.terminate(),
  }
}

/** A relayed link pulls both ends to its relay. */
function layoutInputOf(map: NetworkMap): Omit<LayoutInput, 'aspect'> {
  const { nodes, links } = map
  const ids = nodes.map(({ id }) => id)
  const indexes = new Map(ids.map((id, at) => [id, at]))
  const pairs = links.flatMap(({ from, to, relay }) =>
    relay === undefined ? [from, to] : [from, relay, relay, to],
  )
  const toIndexes = (list: readonly string[]) => Uint32Array.from(list, (id) => indexes.get(id) ?? 0)
  return {
    ids,
    links: toIndexes(pairs),
    sites: outlinedSites(map).map(({ members }) => toIndexes(members)),
  }
}

function isSame(a: LayoutInput, b: LayoutInput): boolean {
  return (
    a.ids.length === b.ids.length &&
    a.links.length === b.links.length &&
    isSameSites(a.sites, b.sites) &&
    a.ids.every((id, at) => id === b.ids[at]) &&
    a.links.every((end, at) => end === b.links[at])
  )
}

function isSameSites(a: LayoutInput['sites'], b: LayoutInput['sites']): boolean {
  return a.length === b.length && a.every((members, at) => String(members) === String(b[at]))
}
