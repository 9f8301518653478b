import { parseCidr, peerIdFromPublicKey } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { describe, expect, it } from 'vitest'
import { framesOf } from './frames.ts'
import { MAX_MATCHES, MAX_RULE_LAYERS, MAX_RULES } from './limits.ts'
import { loadAddon } from './native.ts'
import { encodeRules, type PacketMatch, type PacketRule, type PacketRules } from './rules.ts'
import { checkTable, type EngineTable } from './table.ts'
import { type MemoryEngine, openMemoryEngine } from './testing.ts'

const peer = peerIdFromPublicKey(new Uint8Array(32).fill(3))
const PEER = '10.1.0.2/32'
const SELF = '10.1.0.1/32'

function tableWith(rules: PacketRules | undefined): EngineTable {
  const member = { peer, allowed: [parseCidr(PEER)], mtu: 1280, tunnel: { kind: 'legacy' } } as const
  return { local: [parseCidr(SELF)], peers: [member], rules }
}

/** The peer may send UDP to these ports. */
function allowing(...ports: readonly number[]): PacketRules {
  const on = ports.map((port): PacketMatch => ({ protocol: 'udp', firstPort: port, lastPort: port }))
  const ranges = [PEER, SELF].map((range, set) => ({ range: parseCidr(range), sets: [set] }))
  return { ranges, layers: [on.map((match) => ({ from: 0, to: 1, on: [match] }))], silent: false }
}

/** A datagram of the peer's. */
function datagram(port: number): Uint8Array {
  const bytes = new Uint8Array(40)
  bytes.set([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 1, 0, 2, 10, 1, 0, 1])
  bytes.set([156, 64, port >> 8, port, 0, 20], 20)
  return bytes
}

describe.skipIf(hasNoAddon())('an engine with rules', () => {
  it('lets in what they allow, tells the sender of the rest, and counts both', async () => {
    const { engine, told } = open()
    const rules = allowing(53, 123)
    engine.setTable(tableWith(rules))
    for (const port of [53, 22, 22, 123, 53]) engine.injectPackets(peer, datagram(port))
    const got: Uint8Array[] = []
    await eventually(() => {
      got.push(...engine.device.receive())
      expect(got).toHaveLength(3)
      expect(told()).toHaveLength(2)
    })
    // ICMP's 'communication administratively prohibited'
    expect([...(told()[0]?.subarray(20, 22) ?? [])]).toEqual([3, 13])
    expect(engine.stats().peers.get(peer)?.drops).toEqual({ refusedByRules: 2 })
    const refusal = { source: '10.1.0.2', destination: '10.1.0.1', protocol: 17, port: 22, count: 2 }
    expect(engine.takeRefusals()).toEqual([refusal])
    expect(engine.takeRefusals()).toEqual([])
    expect([engine.ruleHits(), engine.flowCount]).toEqual([[[1, 1]], 2])
    // the same rules in another table go on
    engine.setTable(tableWith(rules))
    expect(engine.ruleHits()).toEqual([[1, 1]])
    engine.setTable(tableWith(undefined))
    engine.injectPackets(peer, datagram(22))
    await eventually(() => expect(engine.device.receive()).toHaveLength(1))
    engine.close()
    expect([engine.takeRefusals(), engine.ruleHits(), engine.flowCount]).toEqual([[], [], 0])
  })

  it('tells nobody where rules are silent', async () => {
    const { engine, told } = open()
    engine.setTable(tableWith({ ...allowing(), silent: true }))
    engine.injectPackets(peer, datagram(53))
    await eventually(() => expect(engine.takeRefusals()).toHaveLength(1))
    expect(told()).toEqual([])
    engine.close()
  })
})

function open(): { readonly engine: MemoryEngine; readonly told: () => readonly Uint8Array[] } {
  const told: Uint8Array[] = []
  const engine = openMemoryEngine({ privateKey: new Uint8Array(32).fill(1), onEvent: () => {} })
  const take = () => {
    for (let batch = engine.take(peer); batch !== undefined; batch = engine.take(peer))
      told.push(...framesOf(batch))
    return told
  }
  return { engine, told: take }
}

it('refuses rules that cannot be, and more than the engine takes', () => {
  const rule: PacketRule = { from: undefined, to: undefined, on: [] }
  const match: PacketMatch = { protocol: 'tcp', firstPort: 1, lastPort: 2 }
  const rules = (layer: readonly PacketRule[]): PacketRules => ({
    ranges: [],
    layers: [layer],
    silent: false,
  })
  const twice = [PEER, PEER].map((range) => ({ range: parseCidr(range), sets: [] }))
  for (const bad of [
    { ...rules([]), ranges: twice },
    { ...rules([]), ranges: [{ range: parseCidr(PEER), sets: [-1] }] },
    { ...rules([]), layers: Array.from({ length: MAX_RULE_LAYERS + 1 }, () => []) },
    rules(Array.from({ length: MAX_RULES + 1 }, () => rule)),
    rules([{ ...rule, from: 1.5 }]),
    rules([{ ...rule, on: [{ ...match, lastPort: 65_536 }] }]),
    rules([{ ...rule, on: Array.from({ length: MAX_MATCHES + 1 }, () => match) }]),
  ])
    expect(() => checkTable(tableWith(bad))).toThrow(expect.objectContaining({ code: 'engine.bad_table' }))
  expect(() => checkTable(tableWith(rules([{ ...rule, on: [match] }])))).not.toThrow()
})

it('writes a thousand machines and a thousand rules in few bytes', () => {
  const ranges = Array.from({ length: 1_000 }, (_, n) => ({
    range: parseCidr(`10.1.${n >> 8}.${n & 255}/32`),
    sets: [n, 5_000 + (n % 20)],
  }))
  const on: PacketMatch[] = [{ protocol: 'tcp', firstPort: 22, lastPort: 22 }]
  const layers = [Array.from({ length: 1_000 }, (_, n) => ({ from: n, to: 5_000 + (n % 20), on }))]
  const { sets, rules } = encodeRules({ ranges, layers, silent: false })
  expect([sets.length, rules.length]).toEqual([3_000, 5_001])
})

function hasNoAddon(): boolean {
  try {
    loadAddon()
    return false
  } catch {
    return true
  }
}
