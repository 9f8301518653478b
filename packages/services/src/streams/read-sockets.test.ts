import { Socket } from 'node:net'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { handOn, pauseReading, readOn } from './read-sockets.ts'

/** Longer than the loop budget gives members in one turn, in ms. */
const LONG_MS = 20

test('when a turn has no time left all sockets wait for a later one, but for those that were paused or closed', async () => {
  const sockets = Array.from({ length: 4 }, () => new Socket())
  const [reading, other, held, closed] = sockets as [Socket, Socket, Socket, Socket]
  for (const socket of sockets) readOn(socket)
  pauseReading(held)
  closed.destroy()
  const endMs = performance.now() + LONG_MS
  while (performance.now() < endMs);
  handOn(reading, () => true)
  const paused = () => [reading, other, held].map((socket) => socket.isPaused())
  expect(paused()).toEqual([true, true, true])
  await eventually(() => expect(paused()).toEqual([false, false, true]))
  for (const socket of sockets) socket.destroy()
})
