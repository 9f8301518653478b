import type { ApiClient } from '@mesh/api-client'
import type { LogLinesView } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import { useEffect, useState } from 'react'
import { useClock } from '../parts/time.tsx'
import { useClient } from './client-context.tsx'

export type LogLine = LogLinesView['Lines'][number]

/** How often new lines are asked for, in ms. */
const READ_EVERY_MS = 1_000
/** The most lines that a page keeps. */
const MAX_KEPT_LINES = 2_000

export interface LogTail {
  readonly lines: readonly LogLine[]
  /** Where the next read begins; undefined: with all that the node keeps. */
  readonly next: number | undefined
  /** Why the last read failed; it is tried again. */
  readonly error: Error | undefined
}

const NOTHING: LogTail = { lines: [], next: undefined, error: undefined }

/** Follows the log of the node while it runs and somebody looks at the page. */
export function useLogTail(isRunning: boolean): LogTail {
  const client = useClient()
  const clock = useClock()
  const [tail, setTail] = useState(NOTHING)
  const [reader] = useState(() => createReader({ client, clock }, setTail))
  useEffect(() => (isRunning ? reader.run() : undefined), [reader, isRunning])
  return tail
}

interface ReaderComponents {
  readonly client: ApiClient
  readonly clock: Clock
}

function createReader({ client, clock }: ReaderComponents, tell: (tail: LogTail) => void) {
  let tail = NOTHING
  const read = async (signal: AbortSignal) => {
    const { next } = tail
    try {
      const answer = await client.readLog(next === undefined ? {} : { after: String(next) }, { signal })
      tail = joined(tail, answer)
    } catch (error) {
      tail = { ...tail, error: error instanceof Error ? error : new Error(String(error)) }
    }
    if (!signal.aborted) tell(tail)
  }
  return {
    /** Reads until the returned function is called; then goes on where it stopped. */
    run() {
      const stopping = new AbortController()
      let cancel = () => {}
      const turn = async () => {
        if (document.visibilityState === 'visible') await read(stopping.signal)
        if (!stopping.signal.aborted) cancel = clock.after(READ_EVERY_MS, () => void turn())
      }
      void turn()
      return () => {
        stopping.abort()
        cancel()
      }
    },
  }
}

/** A node that was started again counts from the beginning. A line that was read before is left out. */
function joined({ lines, next = 0 }: LogTail, answer: LogLinesView): LogTail {
  const before = answer.Next < next ? [] : lines
  const last = before.at(-1)?.Sequence ?? -1
  const added = answer.Lines.filter(({ Sequence }) => Sequence > last)
  return { lines: [...before, ...added].slice(-MAX_KEPT_LINES), next: answer.Next, error: undefined }
}
