// @vitest-environment node
import { expect, test } from 'vitest'
import { centreOn, fitView, nearestLine, nearestPlace, outlineAround, toScreen, zoomAt } from './map-view.ts'

const SIZE = { width: 800, height: 600 }

test('zooming keeps the place under the pointer, and has ends', () => {
  const view = { scale: 1, x: 10, y: 20 }
  const at = { x: 300, y: 200 }
  const place = { x: 290, y: 180 }
  expect(toScreen(view, place)).toEqual(at)
  expect(toScreen(zoomAt(view, at, 2), place)).toEqual(at)
  expect(zoomAt(view, at, 1e9).scale).toBe(4)
  expect(zoomAt(view, at, 1e-9).scale).toBe(0.05)
})

test('a fitting view shows all places inside of the canvas, however few they are', () => {
  const places = [
    { x: -5_000, y: 0 },
    { x: 3_000, y: 900 },
  ]
  for (const { x, y } of places.map((place) => toScreen(fitView(places, SIZE), place))) {
    expect(x).toBeGreaterThan(0)
    expect(x).toBeLessThan(SIZE.width)
    expect(y).toBeGreaterThan(0)
    expect(y).toBeLessThan(SIZE.height)
  }
  expect(fitView([{ x: 7, y: 7 }], SIZE).scale).toBe(1.6)
  expect(fitView([], SIZE)).toEqual({ scale: 1, x: 400, y: 300 })
})

test('a centred place is in the middle', () => {
  const view = centreOn({ scale: 3, x: 0, y: 0 }, { x: 40, y: -9 }, SIZE)
  expect(toScreen(view, { x: 40, y: -9 })).toEqual({ x: 400, y: 300 })
})

test('a click hits the nearest node in reach, and the nearest line', () => {
  const places = [
    { x: 0, y: 0 },
    { x: 20, y: 0 },
  ]
  expect(nearestPlace(places, { x: 12, y: 0 }, 15)).toBe(1)
  expect(nearestPlace(places, { x: 0, y: 40 }, 15)).toBe(-1)
  const [a, b, c] = [
    { x: 0, y: 0 },
    { x: 100, y: 0 },
    { x: 100, y: 100 },
  ] as const
  expect(nearestLine([[a, c], [a, b, c], []], { x: 97, y: 50 }, 6)).toBe(1)
  expect(nearestLine([[a, c], [a, b, c], []], { x: 50, y: 70 }, 6)).toBe(-1)
})

test('an outline keeps its room around all points, however they lie', () => {
  const corners = [
    { x: 0, y: 0 },
    { x: 100, y: 0 },
    { x: 100, y: 100 },
  ]
  for (const points of [corners.slice(0, 1), corners.slice(0, 2), corners, [...corners, { x: 90, y: 40 }]]) {
    const outline = outlineAround(points, 20)
    expect(nearestPlace(outline, { x: -20, y: 0 }, 1)).not.toBe(-1)
    for (const point of points) {
      for (const [at, { x, y }] of outline.entries()) {
        const { x: nextX, y: nextY } = outline[(at + 1) % outline.length] ?? point
        // the distance of the point to this side, positive inside
        const inside = (nextY - y) * (point.x - x) - (nextX - x) * (point.y - y)
        expect(inside / Math.hypot(nextX - x, nextY - y)).toBeGreaterThan(19)
      }
    }
  }
  expect(outlineAround([], 20)).toEqual([])
})
