/**
 * Answers that are too large to be made as one: written piece by piece, as fast as their reader takes them, with other
 * work in between. Who does not read is cut off, and how many may read is bounded, by address and in all.
 */
import type { Clock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { Request, Response } from 'express'
import type { ReaderPlaces } from './reader-places.ts'
import { MAX_LARGE_ANSWER_MS, MAX_LARGE_ANSWER_STALL_MS } from '../limits.ts'
import { Problem } from './problem.ts'

export interface LargeAnswerComponents {
  readonly readers: ReaderPlaces
  readonly clock: Clock
}

/**
 * Writes the head and all pieces; resolves when the last was handed over, or the reader is gone. The head alone takes no place.
 * @throws Problem `http.rate_limited` when too many read large answers now
 */
export async function sendPieces(
  { req, res, headers }: { readonly req: Request; readonly res: Response; readonly headers: object },
  pieces: Iterable<string>,
  { readers, clock }: LargeAnswerComponents,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.writeHead(200, { ...headers }).end()
    return
  }
  const address = req.socket.remoteAddress ?? ''
  const place = readers.reserve(address)
  if (place === undefined) {
    throw new Problem('http.rate_limited', 'too many read large answers now', {
      headers: { 'Retry-After': '5' },
    })
  }
  const cancel = clock.after(MAX_LARGE_ANSWER_MS, () => res.destroy())
  try {
    res.writeHead(200, { ...headers })
    const rest = pieces[Symbol.iterator]()
    const budget = loopBudget(clock)
    for (;;) {
      const turn = budget.turn('background', { key: address })
      if (turn !== undefined) await turn
      if (res.destroyed) return
      const { done, value } = rest.next()
      const isTaken = done === true || res.write(value)
      if (done === true) break
      if (!isTaken) await drained(res, clock)
    }
    res.end()
  } finally {
    cancel()
    place.release()
  }
}

/** Waits until the reader has taken what was written, or is gone; one that takes nothing for long is cut off. */
async function drained(res: Response, clock: Clock): Promise<void> {
  if (res.destroyed) return
  await new Promise<void>((resolve) => {
    const cancel = clock.after(MAX_LARGE_ANSWER_STALL_MS, () => res.destroy())
    const done = () => {
      cancel()
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.on('drain', done)
    res.on('close', done)
  })
}
