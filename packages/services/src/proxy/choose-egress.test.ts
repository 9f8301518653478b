import { createHash } from 'node:crypto'
import { peerIdFromPublicKey, systemClock, systemRandom } from '@mesh/core'
import type { KeyedEntry } from '@mesh/ledger'
import { expect, test } from 'vitest'
import { createEgressChoice } from './choose-egress.ts'

const peerNamed = (name: string) => peerIdFromPublicKey(createHash('sha256').update(name).digest())

test.each([undefined, 'gate'])('many requests look once through what is written, wanted is %s', (wanted) => {
  const looks: (string | undefined)[] = []
  let livenessAsked = 0
  const gate = peerNamed('gate')
  const entryOf = (bucket: string, key: string, value: string): KeyedEntry => ({
    bucket,
    key,
    entry: { owner: gate, value, version: 1n, updatedAt: 0, deleted: false, sig: null },
  })
  const entries = [
    entryOf('egress', gate, '"ok"'),
    entryOf('egress', peerNamed('another'), '"ok"'),
    entryOf('machines', '10.1.0.1', JSON.stringify({ PeerID: gate, Hostname: 'gate' })),
  ]
  const snapshot = {
    entries(bucket: string) {
      looks.push(bucket)
      return entries.filter((each) => each.bucket === bucket)
    },
    isOwnerLive: () => ++livenessAsked > 0,
  }
  const ledger = { snapshot: () => snapshot, subscribe: () => () => {} }
  const network = { self: peerNamed('self'), pathOf: () => undefined }
  const components = { ledger, network, clock: systemClock, random: systemRandom } as never
  const choice = createEgressChoice(wanted, components)
  for (let at = 0; at < 100; at++) expect(choice.pick()).toBe(gate)
  expect(looks).toEqual(wanted === undefined ? ['egress'] : ['machines', 'egress'])
  // of all who offer it once, and then of the one that is used
  expect(livenessAsked).toBe(1 + 99)
})
