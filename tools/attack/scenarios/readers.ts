/** Attacks by readers of the API. */
import { get } from 'node:http'
import { overAndOver, together } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { apiPortOf, oneOfTen, overSocket } from '../sockets.ts'
import { RefusedError } from '../tally.ts'
import { pause } from '../until-true.ts'

export const READER_ATTACKS: readonly Scenario[] = [
  {
    name: 'idle-readers',
    who: 'stranger',
    does: '200 readers of events that never read, and 40 of the whole ledger',
    boundedBy: 'EVENT_READERS, LARGE_ANSWER_READERS',
    legacy: { meaningless: 'no events' },
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
    reached: comeLate,
  },
  {
    name: 'many-readers',
    who: 'stranger',
    does: '2,000 readers of events that never read, and 400 of the whole ledger, from ten addresses',
    boundedBy: 'EVENT_READERS, LARGE_ANSWER_READERS',
    legacy: { meaningless: 'no events' },
    isApart: true,
    aim: 'answers held',
    run: (attack) =>
      together(2_400, (at) =>
        overAndOver(
          attack,
          () => holdAnswer(attack, at < 2_000 ? '/api/events' : '/api/ledger', oneOfTen(at)),
          200,
        ),
      ),
    reached: comeLate,
  },
]

/** Asks once, and reads no more than what comes first, until the connection ends. */
async function holdAnswer(attack: Attack, path: string, from: string): Promise<void> {
  await overSocket(attack, { port: apiPortOf(attack.target), from }, (socket) => {
    socket.once('data', (data) => {
      socket.pause()
      if (data.toString('latin1').startsWith('HTTP/1.1 200')) attack.tally.count('answers held')
      else socket.destroy(new RefusedError('no answer to hold'))
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  })
}

/** Tells when a reader who comes while the attack goes on finds no place. */
async function comeLate({ target }: Attack): Promise<string | undefined> {
  const statuses: number[] = []
  // one that comes may have to make way for others that just came, and comes again
  while (statuses.length < 5 && statuses.at(-1) !== 200) statuses.push(await readEvents(target.url))
  return statuses.at(-1) === 200 ? undefined : `a reader who came late got ${statuses.join(', ')}`
}

/** The status of an answer on a connection of its own; 0 when there was none. */
function readEvents(url: string): Promise<number> {
  return new Promise((resolve) => {
    const reader = get(`${url}/api/events`, { agent: false }, ({ statusCode = 0 }) => {
      resolve(statusCode)
      reader.destroy()
    })
    reader.once('error', () => resolve(0))
  })
}
