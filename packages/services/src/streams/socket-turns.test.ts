import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { SOCKETS_AT_ONCE } from '../limits.ts'
import { SocketTurns } from './socket-turns.ts'

/** Sockets that note in which turn of the event loop they were read on. */
function makeSockets(count: number, turnOf: () => number) {
  return Array.from({ length: count }, () => ({
    destroyed: false,
    turns: [] as number[],
    resume() {
      this.turns.push(turnOf())
    },
  }))
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a few sockets are read on in each turn of the event loop, each once, and none that is closed', async () => {
  let turn = 0
  const sockets = makeSockets(3 * SOCKETS_AT_ONCE, () => turn)
  const turns = new SocketTurns()
  for (const socket of sockets) turns.resume(socket as unknown as Socket)
  const closed = sockets.at(-1)
  if (closed !== undefined) closed.destroyed = true
  for (const socket of sockets.slice(40, 50)) turns.resume(socket as unknown as Socket)
  for (turn = 1; turn < 5; turn++) await nextTurn()
  const begun = sockets.map((socket) => socket.turns)
  expect(begun.slice(0, SOCKETS_AT_ONCE)).toEqual(Array(SOCKETS_AT_ONCE).fill([0]))
  expect(begun.slice(0, -1).every(({ length }) => length === 1)).toBe(true)
  expect(closed?.turns).toEqual([])
  const perTurn = [...Map.groupBy(begun.flat(), (at) => at).values()].map(({ length }) => length)
  expect(Math.max(...perTurn)).toBe(SOCKETS_AT_ONCE)
})
