/** Events of Node and V8 over a while, in the trace event format, which https://ui.perfetto.dev shows. */
import { Session } from 'node:inspector/promises'
import { type Clock, delay } from '@mesh/core'

const CATEGORIES = [
  'v8',
  'node.perf',
  'node.async_hooks',
  'node.fs.async',
  'node.dns.native',
  'node.net.native',
]
/** How many events are kept; later ones are left out, and counted. */
const MAX_TRACE_EVENTS = 200_000
/** How long V8 may take to give its last events, in ms. */
const COMPLETION_TIMEOUT_MS = 5_000

/** Collects events. Rejects with the signal's reason. */
export async function takeTrace(seconds: number, clock: Clock, signal: AbortSignal): Promise<string> {
  const session = new Session()
  session.connect()
  const events: object[] = []
  let left = 0
  session.on('NodeTracing.dataCollected', ({ params }) => {
    const room = MAX_TRACE_EVENTS - events.length
    for (const event of params.value.slice(0, room)) events.push(event)
    left += Math.max(0, params.value.length - room)
  })
  const completed = new Promise<void>((resolve) => {
    session.once('NodeTracing.tracingComplete', () => resolve())
  })
  try {
    await session.post('NodeTracing.start', { traceConfig: { includedCategories: CATEGORIES } })
    try {
      await delay(clock, seconds * 1_000, signal)
    } finally {
      await session.post('NodeTracing.stop')
    }
    await Promise.race([completed, delay(clock, COMPLETION_TIMEOUT_MS)])
    return JSON.stringify({ traceEvents: events, otherData: { eventsLeftOut: left } })
  } finally {
    session.disconnect()
  }
}
