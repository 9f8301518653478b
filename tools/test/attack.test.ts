/** A short form of `npm run attack`: attacks on real nodes that once reached their aim. */
import { describe, expect, test } from 'vitest'
import { DATAGRAM_ATTACKS, runDatagramAttack, whyNoDatagramAttacks } from '../attack/datagrams.ts'
import { runInNamespace, whyNoNeighbourAttacks, whyNoVpnAttacks } from '../attack/namespace.ts'
import { runAttack } from '../attack/run-attack.ts'
import { SUITE_BOUNDS } from '../attack/scenario.ts'
import { SCENARIOS } from '../attack/scenarios.ts'

/** Health and writes have more time here than in the suite: the machine is shared. */
const bounds = { ...SUITE_BOUNDS, healthMs: 3_000, writeMs: 30_000 }

test.each(['replayed-author', 'inflated-gossip', 'channel-texts', 'stun-questions', 'refused-by-rules'])(
  '%s is held off',
  async (name) => {
    const scenario = SCENARIOS.find((each) => each.name === name)
    if (scenario === undefined) throw new Error(`no attack ${name}`)
    const { broke, carried, arrived, writes } = await runAttack(scenario, {
      kind: 'mesh',
      seconds: 3,
      bounds,
    })
    expect([broke, carried, arrived]).toEqual([undefined, 'carried out', writes])
  },
)

const whyNoVpn = whyNoVpnAttacks()

test.skipIf(whyNoVpn !== undefined)(
  `false answers to probes end no node with a VPN${whyNoVpn === undefined ? '' : ` (skipped: ${whyNoVpn})`}`,
  async () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'false-answers')
    if (scenario === undefined) throw new Error('no such attack')
    const { carried, arrived, writes, ownHealthMs } = await runInNamespace(scenario, 3)
    expect([carried, arrived]).toEqual(['carried out', writes])
    expect(ownHealthMs).toBeLessThan(bounds.healthMs)
  },
)

const whyNoNeighbour = whyNoNeighbourAttacks()

test.skipIf(whyNoNeighbour !== undefined)(
  `no datagram of the local network ends a node that searches for a router${whyNoNeighbour === undefined ? '' : ` (skipped: ${whyNoNeighbour})`}`,
  async () => {
    // between its searches a node rests for some seconds
    const scenario = SCENARIOS.find(({ name }) => name === 'ssdp-datagrams')
    if (scenario === undefined) throw new Error('no such attack')
    const { carried, arrived, writes, ownHealthMs } = await runInNamespace(scenario, 12)
    expect([carried, arrived]).toEqual(['carried out', writes])
    expect(ownHealthMs).toBeLessThan(bounds.healthMs)
  },
)

const why = whyNoDatagramAttacks()

describe.skipIf(why !== undefined)(
  `floods of datagrams${why === undefined ? '' : ` (skipped: ${why})`}`,
  () => {
    test('of all kinds end no session, and a guest still comes in', async () => {
      const [attack] = DATAGRAM_ATTACKS
      if (attack === undefined) throw new Error('no flood')
      const kinds = DATAGRAM_ATTACKS.map((each) => each.kinds).join(',')
      const run = { seconds: 3, rate: 100_000, bounds: { ...bounds, healthMs: 5_000 } }
      expect((await runDatagramAttack({ ...attack, kinds }, run)).broke).toBe(undefined)
    })
  },
)
