import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { SOCKETS_AT_ONCE, SOCKETS_TURN_MS } from '../limits.ts'
import { SocketTurns } from './socket-turns.ts'

/** Sockets that note in which turn of the event loop they were read on. */
function makeSockets(count: number, turnOf: () => number) {
  return Array.from({ length: count }, () => ({
    destroyed: false,
    turns: [] as number[],
    isRead: false,
    resume() {
      this.turns.push(turnOf())
      this.isRead = true
    },
    pause() {
      this.isRead = false
    },
  }))
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a few sockets are read on in each turn of the event loop, each once, and none that is closed', async () => {
  let turn = 0
  const sockets = makeSockets(3 * SOCKETS_AT_ONCE, () => turn)
  const turns = new SocketTurns({ monotonic: () => 0 })
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

test('all sockets share the time of a turn, and who has no room waits until it is asked for more', async () => {
  let now = 0
  const turns = new SocketTurns({ monotonic: () => now })
  const made = makeSockets(3, () => 0)
  const [first, second, full] = made as unknown as [Socket, Socket, Socket]
  const read = () => made.map(({ isRead }) => isRead)
  for (const socket of [first, second, full]) turns.resume(socket)
  const block = (mayFollow: boolean) => () => {
    now += SOCKETS_TURN_MS / 2
    return mayFollow
  }
  turns.handOn(full, block(false))
  expect(read()).toEqual([true, true, false])
  turns.handOn(first, block(true))
  expect(read()).toEqual([false, false, false])
  await nextTurn()
  expect(read()).toEqual([true, true, false])
  turns.resume(full)
  expect(read()).toEqual([true, true, true])
})
