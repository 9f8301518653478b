// @vitest-environment node
import { expect, test } from 'vitest'
import { createLayout, type Layout } from './layout.ts'

const ring = (count: number) => ({
  ids: Array.from({ length: count }, (_, at) => `n${at}`),
  links: Uint32Array.from(Array.from({ length: count }, (_, at) => [at, (at + 1) % count]).flat()),
  sites: [],
  aspect: 1,
})

function settle(layout: Layout): number {
  let steps = 0
  while (layout.step()) steps++
  return steps
}

function place(layout: Layout, at: number) {
  const places = layout.places()
  return { x: places[2 * at] ?? Number.NaN, y: places[2 * at + 1] ?? Number.NaN }
}

const distance = (a: { x: number; y: number }, b: { x: number; y: number }) =>
  Math.hypot(a.x - b.x, a.y - b.y)

test('comes to rest, with neighbours nearer than others and none on top of another', () => {
  const layout = createLayout()
  layout.set(ring(12))
  expect(settle(layout)).toBeLessThan(400)
  const [a, next, opposite] = [place(layout, 0), place(layout, 1), place(layout, 6)]
  expect(distance(a, next)).toBeLessThan(distance(a, opposite))
  expect(distance(a, next)).toBeGreaterThan(30)
})

test('nodes keep their places when one comes, which starts beside its neighbour', () => {
  const layout = createLayout()
  layout.set(ring(12))
  settle(layout)
  const before = place(layout, 3)
  const { ids, links } = ring(12)
  layout.set({ ids: [...ids, 'new'], links: Uint32Array.from([...links, 3, 12]), sites: [], aspect: 1 })
  expect(distance(place(layout, 3), before)).toBe(0)
  expect(distance(place(layout, 12), before)).toBeLessThan(130)
  settle(layout)
  expect(distance(place(layout, 3), before)).toBeLessThan(150)
})

test('a thousand new nodes at one neighbour do not fly away', () => {
  const layout = createLayout()
  const ids = Array.from({ length: 1_000 }, (_, at) => `n${at}`)
  layout.set({ ids: ids.slice(0, 1), links: new Uint32Array(), sites: [], aspect: 1 })
  settle(layout)
  layout.set({ ids, links: Uint32Array.from(ids.flatMap((_, at) => [0, at])), sites: [], aspect: 1 })
  for (let step = 0; step < 40; step++) layout.step()
  const places = layout.places()
  expect(Math.max(...places.map(Math.abs))).toBeLessThan(10_000)
})

test('machines of one site stand together, whatever their links', () => {
  const count = 60
  const ids = Array.from({ length: count }, (_, at) => `n${at}`)
  // every machine is linked to a machine of another site
  const links = Uint32Array.from(ids.flatMap((_, at) => [at, (at + 1) % count]))
  const sites = [0, 1, 2].map((site) => Uint32Array.from([...ids.keys()].filter((at) => at % 3 === site)))
  const layout = createLayout()
  layout.set({ ids, links, sites, aspect: 1 })
  expect(settle(layout)).toBeLessThan(400)
  const middles = sites.map((members) => middleOf([...members].map((at) => place(layout, at))))
  for (const at of ids.keys()) {
    const distances = middles.map((middle) => distance(middle, place(layout, at)))
    expect(distances.indexOf(Math.min(...distances))).toBe(at % 3)
  }
})

function middleOf(points: readonly { x: number; y: number }[]) {
  const mean = (side: 'x' | 'y') => points.reduce((sum, point) => sum + point[side], 0) / points.length
  return { x: mean('x'), y: mean('y') }
}
