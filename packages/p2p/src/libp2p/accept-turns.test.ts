import type { Socket } from 'node:net'
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { ACCEPTS_TURN_MS, MAX_WAITING_SOCKETS } from '../limits.ts'
import { AcceptTurns } from './accept-turns.ts'

/** What accepting one socket takes, by the clock of the test. */
const ACCEPT_MS = 2

class Accepted extends EventEmitter {
  destroyed = false
  readonly remoteAddress: string

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

function createTurns() {
  let now = 0
  let next: (() => void)[] = []
  const turns = new AcceptTurns({
    monotonic: () => now,
    after(_ms, run) {
      next.push(run)
      return () => {}
    },
  })
  const accepted: string[] = []
  const come = (name: string, remoteAddress: string) => {
    const socket = new Accepted(remoteAddress)
    turns.take(socket as unknown as Socket, () => {
      now += ACCEPT_MS
      accepted.push(name)
    })
    return socket
  }
  /** Gives the sockets that were accepted in the next turn. */
  const turn = () => {
    const before = accepted.length
    const due = next
    next = []
    for (const run of due) run()
    return accepted.slice(before)
  }
  return { accepted, come, turn }
}

test('sockets that come at once are accepted in turns and in their order, but for those that closed', () => {
  const { accepted, come, turn } = createTurns()
  const perTurn = ACCEPTS_TURN_MS / ACCEPT_MS
  const names = Array.from({ length: 3 * perTurn + 1 }, (_, at) => `s${at}`)
  const sockets = names.map((name) => come(name, '192.0.2.1'))
  expect(accepted).toEqual(names.slice(0, perTurn))
  sockets.at(perTurn)?.destroy()
  for (let turns = 0; turns < 6; turns++) expect(turn().length).toBeLessThanOrEqual(perTurn)
  expect(accepted).toEqual(names.filter((_, at) => at !== perTurn))
})

test('of too many that wait the newest of the address with the most ends', () => {
  const { accepted, come, turn } = createTurns()
  for (let at = 0; at < ACCEPTS_TURN_MS / ACCEPT_MS; at++) come('first', '192.0.2.66')
  const honest = come('honest', '192.0.2.1')
  const flood = Array.from({ length: 2 * MAX_WAITING_SOCKETS }, () => come('flood', '192.0.2.66'))
  expect(honest.destroyed).toBe(false)
  expect(flood.filter(({ destroyed }) => !destroyed)).toHaveLength(MAX_WAITING_SOCKETS - 1)
  expect(flood[0]?.destroyed).toBe(false)
  turn()
  expect(accepted).toContain('honest')
})
