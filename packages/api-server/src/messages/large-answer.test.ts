import { EventEmitter } from 'node:events'
import { systemClock, TimeShare } from '@mesh/core'
import type { Request, Response } from 'express'
import { expect, test } from 'vitest'
import { LARGE_ANSWERS_TIME_SHARE, LARGE_ANSWERS_BURST_MS } from '../limits.ts'
import { sendPieces } from './large-answer.ts'

const READERS = 12
const PIECE_MS = 4

test('readers of large answers share one slice of time, between which other work has its turn', async () => {
  const time = new TimeShare(
    { burstMs: LARGE_ANSWERS_BURST_MS, oneIn: LARGE_ANSWERS_TIME_SHARE },
    systemClock,
  )
  const seats = { take: () => () => {} }
  /** Pieces that were made since other work had its turn. */
  let since = 0
  let most = 0
  let isOver = false
  const tick = () => {
    since = 0
    if (!isOver) setImmediate(tick)
  }
  tick()
  function* pieces() {
    for (let at = 0; at < 5; at++) {
      const beganMs = systemClock.monotonic()
      while (systemClock.monotonic() - beganMs < PIECE_MS);
      most = Math.max(most, ++since)
      yield 'piece'
    }
  }
  const read = async () => {
    const written: string[] = []
    const taken = {
      destroyed: false,
      writeHead: () => {},
      write: (piece: string) => written.push(piece),
      end: () => {},
    }
    const res = Object.assign(new EventEmitter(), taken) as unknown as Response
    const req = { method: 'GET', socket: {} } as Request
    await sendPieces({ req, res, headers: {} }, pieces(), { seats, time, clock: systemClock })
    return written.length
  }
  const counts = await Promise.all(Array.from({ length: READERS }, read))
  isOver = true
  expect(counts).toEqual(Array.from({ length: READERS }, () => 5))
  expect(most).toBeLessThanOrEqual(Math.ceil((2 * LARGE_ANSWERS_BURST_MS) / PIECE_MS) + 1)
})
