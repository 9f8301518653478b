/** An attack by members whom a node misses: whoever goes is dialled, and these take each connection and close it. */
import { dialTarget, together } from '../attackers.ts'
import { beMember } from '../membership.ts'
import type { Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { greaterSeed } from './discovery.ts'

const CLOSERS = 8
/** More dials of one of them than a node makes in the time of an attack. */
const MAX_DIALS_OF_EACH = 8
const DIALS = 'connections that were closed at once'

export const CLOSING_ATTACKS: readonly Scenario[] = [
  {
    name: 'closing-members',
    who: 'member',
    does: `${CLOSERS} keys from as many addresses say that they are members, go, and close each connection at once by which the node looks for them`,
    boundedBy: 'BRIEF_CONNECTION_MS, MEMBER_BACKOFF_MAX_MS, MAX_VAIN_DIALS_PER_MINUTE',
    legacy: { meaningless: 'looks for nobody who went' },
    isApart: true,
    aim: DIALS,
    async run(attack) {
      const { target, signal, tally } = attack
      await together(CLOSERS, async (at) => {
        const from = `127.0.0.${2 + at}`
        const seed = await greaterSeed(target.id)
        const peer = await attack.peer({ seed, from, listen: `/ip4/${from}/tcp/0` })
        const connection = await dialTarget(peer, target, signal)
        await beMember(attack, { connection, self: peer.peerId })
        // until it has asked where this peer is
        await pause(500, signal)
        peer.addEventListener('connection:open', ({ detail }) => {
          tally.count(DIALS)
          detail.abort(new Error('not wanted'))
        })
        await connection.close()
        while (!signal.aborted) await pause(100, signal)
      })
    },
    async reached({ tally }) {
      const dials = tally.of(DIALS)
      return dials > CLOSERS * MAX_DIALS_OF_EACH ? `it dialled them ${dials} times` : undefined
    },
  },
]
