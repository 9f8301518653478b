/**
 * Questions that wait until the patterns that may match their names have been tried: one client after the other has its
 * turn, for one question, and what there is of time in a turn of the event loop goes to one question until it is answered.
 */
import type { LoopTurns } from '@mesh/core'

export interface WaitingQuestions {
  /** The number of questions that wait. */
  readonly size: number
  /**
   * Adds a question; the first of its client are answered first.
   * @param answer tries to answer; false: not yet, as the turn has no time left
   */
  add(client: string, answer: () => boolean): void
}

/** @param turns the time of patterns in one turn of the event loop */
export function createWaitingQuestions(turns: LoopTurns): WaitingQuestions {
  const byClient = new Map<string, (() => boolean)[]>()
  let size = 0
  const answerNext = () => {
    for (const [client, [answer, ...others]] of byClient) {
      if (answer?.() === false) break
      size--
      byClient.delete(client)
      if (others.length > 0) byClient.set(client, others)
      if (!turns.isTimeLeft()) break
    }
    if (size > 0) turns.later(answerNext)
  }
  return {
    get size() {
      return size
    },
    add(client, answer) {
      const waiting = byClient.get(client)
      if (waiting === undefined) byClient.set(client, [answer])
      else waiting.push(answer)
      if (++size === 1) turns.later(answerNext)
    },
  }
}
