import { parsePeerId, silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { createAccessRules, type PacketRules } from '@mesh/trust/rules'
import { expect, test } from 'vitest'
import { followPacketRules } from './follow-packet-rules.ts'

const SELF = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')

test('the packet filter has the rules at once, and after each change', () => {
  const policy = { default: 'refuse', groups: {}, tags: {}, allow: [], tests: [] } as const
  const own = { ...policy, allow: [], tests: [] }
  const ledger = { snapshot: () => ({ entries: () => [] }) as never, subscribe: () => () => {} }
  const clock = createManualClock()
  const rules = createAccessRules({ self: SELF, own, silent: true }, { ledger, clock, log: silentLogger })
  const applied: (PacketRules | undefined)[] = []
  const stop = followPacketRules(rules, (packetRules) => applied.push(packetRules))
  expect(applied).toMatchObject([{ layers: [[]], silent: true }])
  rules.setOwn({ ...own, default: 'allow' })
  expect(applied.slice(1)).toEqual([undefined])
  stop()
  rules.setOwn(own)
  expect(applied).toHaveLength(2)
})
