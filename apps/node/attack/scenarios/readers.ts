/** Attacks by readers of the API. */
import type { Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'

export const READER_ATTACKS: readonly Scenario[] = [
  {
    name: 'idle-readers',
    who: 'stranger',
    does: '200 readers of events that never read, and 40 of the whole ledger',
    boundedBy: 'MAX_EVENT_READERS, MAX_TCP_EVENT_READERS, LARGE_ANSWER_SEATS',
    appliesToLegacy: false,
    async run({ target, signal }) {
      let taken = 0
      const hold = async (path: string) => {
        while (!signal.aborted) {
          try {
            const answer = await fetch(`${target.url}${path}`, { signal })
            if (answer.ok) taken++
            else await answer.body?.cancel()
            await pause(answer.ok ? 60_000 : 200, signal)
          } catch {
            await pause(200, signal)
          }
        }
      }
      const paths = Array.from({ length: 240 }, (_, n) => (n < 200 ? '/api/events' : '/api/ledger'))
      await Promise.all(paths.map(hold))
      return `${taken} answers held`
    },
  },
]
