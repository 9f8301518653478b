import { type IpAddress, parseCidr } from '@mesh/core'
import type { EngineTable, PacketRules, Refusal } from '@mesh/engine'
import { createManualClock } from '@mesh/testkit'
import { expect, it } from 'vitest'
import { MAX_KEPT_REFUSALS, REFUSALS_MS } from './limits.ts'
import { OwnRules } from './own-rules.ts'
import { RefusalLog } from './refusal-log.ts'

const some: PacketRules = { ranges: [], layers: [[{ from: 1, to: 2, on: [] }]], silent: false }
const table: EngineTable = { local: [parseCidr('10.1.0.1/32')], peers: [], guests: [] }

function refusal(port: number, count = 1): Refusal {
  const [source, destination] = ['10.1.0.2', '10.1.0.1'] as IpAddress[] as [IpAddress, IpAddress]
  return { source, destination, protocol: 6, port, count }
}

function create(init: { wireguard?: 'kernel'; rules?: PacketRules } = {}) {
  const clock = createManualClock(0)
  const told: (readonly Refusal[])[] = []
  const waiting: Refusal[] = []
  let changes = 0
  const rules = new OwnRules(
    {
      ...init,
      engine: () => ({ takeRefusals: () => waiting.splice(0), ruleHits: () => [[3]] }),
      onChange: () => (changes += 1),
      onRefusals: (refusals) => told.push(refusals),
    },
    { clock },
  )
  return { rules, clock, told, waiting, changes: () => changes }
}

it('gives the rules with each table, and none without any', () => {
  const { rules, changes } = create()
  const set: EngineTable[] = []
  rules.apply(table, (given) => set.push(given))
  rules.set(some)
  rules.set(some)
  expect(changes()).toBe(1)
  rules.apply(table, (given) => set.push(given))
  expect(set.map((given) => given.rules)).toEqual([undefined, some])
})

it('lets nobody in where the engine does not take the rules', () => {
  const { rules } = create({ rules: some })
  const set: EngineTable[] = []
  const refuse = (given: EngineTable) => {
    if (given.rules === some) throw new Error('too many')
    set.push(given)
  }
  expect(() => rules.apply(table, refuse)).toThrow('too many')
  expect(set).toMatchObject([{ peers: [], guests: [], rules: { layers: [[]] } }])
  expect(rules.problems()).toMatchObject([{ code: 'vpn.rules_not_set', severity: 'error' }])
  rules.apply(table, () => {})
  expect(rules.problems()).toEqual([])
})

it("closes all tunnels of the kernel's WireGuard when the first rules come, and does not start with any", () => {
  const { rules } = create({ wireguard: 'kernel' })
  rules.check()
  rules.set(some)
  const set: EngineTable[] = []
  const peers = [{}] as unknown as EngineTable['peers']
  rules.apply({ ...table, peers }, (given) => set.push(given))
  expect(set).toMatchObject([{ peers: [] }])
  const [problem] = rules.problems()
  expect(problem).toMatchObject({
    code: 'vpn.rules_need_engine',
    hint: expect.stringContaining('--wireguard kernel'),
  })
  expect(() => rules.check()).toThrow(expect.objectContaining({ code: 'vpn.rules_need_engine' }))
})

it('tells of refusals once a second at most, while there are rules', async () => {
  const { rules, clock, told, waiting } = create({ rules: some })
  const end = rules.begin()
  waiting.push(refusal(22), refusal(23))
  await clock.advance(REFUSALS_MS - 1)
  expect(told).toEqual([])
  await clock.advance(1)
  expect(told).toEqual([[refusal(22), refusal(23)]])
  await clock.advance(10 * REFUSALS_MS)
  expect(told).toHaveLength(1)
  waiting.push(refusal(22, 4))
  await clock.advance(REFUSALS_MS)
  expect(rules.status()).toMatchObject({
    hits: [[3]],
    refusals: [
      { port: 22, count: 5 },
      { port: 23, count: 1 },
    ],
  })
  rules.set(undefined)
  waiting.push(refusal(24))
  await clock.advance(10 * REFUSALS_MS)
  expect([told.length, rules.status()]).toEqual([2, undefined])
  end()
})

it('keeps a bounded number of refusals, the newest first', () => {
  const log = new RefusalLog()
  for (let port = 1; port <= MAX_KEPT_REFUSALS + 50; port++) log.add([refusal(port)], port)
  log.add([refusal(60, 7)], 999)
  const list = log.list()
  expect(list).toHaveLength(MAX_KEPT_REFUSALS)
  expect(list[0]).toMatchObject({ port: 60, count: 8, since: 60, last: 999 })
  expect(list.at(-1)?.port).toBe(51)
})
