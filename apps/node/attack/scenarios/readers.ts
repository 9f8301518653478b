/** Attacks by readers of the API. */
import { overAndOver, together } from '../attackers.ts'
import type { Scenario } from '../scenario.ts'
import { RefusedError } from '../tally.ts'
import { pause } from '../until-true.ts'

export const READER_ATTACKS: readonly Scenario[] = [
  {
    name: 'idle-readers',
    who: 'stranger',
    does: '200 readers of events that never read, and 40 of the whole ledger',
    boundedBy:
      'MAX_EVENT_READERS, MAX_TCP_EVENT_READERS, the later half of a full share makes way; LARGE_ANSWER_SEATS, FURTHER_DESCRIPTORS',
    appliesToLegacy: false,
    aim: 'answers held',
    async run(attack) {
      const { target, signal, tally } = attack
      await together(240, (at) =>
        overAndOver(
          attack,
          async () => {
            const answer = await fetch(`${target.url}${at < 200 ? '/api/events' : '/api/ledger'}`, { signal })
            if (answer.ok) {
              tally.count('answers held')
              await pause(60_000, signal)
            }
            await answer.body?.cancel()
            if (!answer.ok) throw new RefusedError(`status ${answer.status}`)
          },
          200,
        ),
      )
    },
    async reached({ target }) {
      const late = new AbortController()
      const { status } = await fetch(`${target.url}/api/events`, { signal: late.signal })
      late.abort()
      return status === 200 ? undefined : `a reader who came late got ${status}`
    },
  },
]
