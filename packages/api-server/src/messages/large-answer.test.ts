import { EventEmitter } from 'node:events'
import { systemClock } from '@mesh/core'
import { TURN_MS } from '@mesh/core/limits'
import type { Request, Response } from 'express'
import { expect, test } from 'vitest'
import { sendPieces } from './large-answer.ts'

const READERS = 12
const PIECE_MS = 4

test('readers of large answers share a part of each turn of the event loop', async () => {
  const readers = { reserve: () => ({ size: 1, resize: () => true, release: () => {} }) }
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
    await sendPieces({ req, res, headers: {} }, pieces(), { readers, clock: systemClock })
    return written.length
  }
  const counts = await Promise.all(Array.from({ length: READERS }, read))
  isOver = true
  expect(counts).toEqual(Array.from({ length: READERS }, () => 5))
  expect(most).toBeLessThanOrEqual(Math.ceil(TURN_MS / PIECE_MS))
})
