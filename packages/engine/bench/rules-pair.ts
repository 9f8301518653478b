/** Engines with rules: two in namespaces, joined over UDP, and one that short flows pass without end. */
import { parseCidr, peerIdFromPublicKey } from '@mesh/core'
import type { Lab } from '@mesh/testkit'
import { setImmediate } from 'node:timers/promises'
import { openMemoryEngine } from '../src/testing.ts'
import { createPair } from '../test/hosts.ts'
import { manyRules } from '../test/many-rules.ts'

const MTU = 1_420
const SELF = '10.9.0.2'
/** Most packets that the engine is given at once: they fit what may wait. */
const FLOWS_AT_ONCE = 4_000
const DATAGRAM_BYTES = 28

export interface RulesPair {
  readonly lab: Lab
  /** The right end's address in the tunnel. */
  readonly to: string
  readonly pids: readonly number[]
  /** Puts so many rules in force at both ends, 0 for none. @returns the milliseconds that the right end took */
  setRules(count: number): Promise<number>
  close(): Promise<void>
}

/** Both ends reach each other over UDP, on a virtual wire. */
export async function openRulesPair(): Promise<RulesPair> {
  const { lab, left, right, close } = await createPair(MTU, 'tcp')
  const ends = [left, right]
  const [leftPort, rightPort] = await Promise.all(ends.map(async (end) => (await end.ask('port'))['port']))
  await left.ask(`path 192.168.9.2 ${String(rightPort)}`)
  await right.ask(`path 192.168.9.1 ${String(leftPort)}`)
  return {
    lab,
    to: SELF,
    pids: ends.map(({ pid }) => pid),
    async setRules(count) {
      const [, took] = await Promise.all(ends.map((end) => end.ask(`rules ${count}`)))
      return Number(took?.['ms'])
    },
    close,
  }
}

/** Sends `count` flows of one datagram each through an engine with rules; what that took, and how much memory it kept. */
export async function passShortFlows(count: number) {
  const peer = peerIdFromPublicKey(new Uint8Array(32).fill(3))
  const engine = openMemoryEngine({ privateKey: new Uint8Array(32).fill(1), onEvent: () => {} })
  const allowed = [parseCidr('10.0.0.0/8')]
  const member = { peer, allowed, mtu: MTU, tunnel: { kind: 'legacy' } } as const
  const rules = manyRules(1_000, [['10.0.0.0/8'], [`${SELF}/32`]])
  engine.setTable({ local: [parseCidr(`${SELF}/32`)], peers: [member], rules })
  const passed = () =>
    engine
      .ruleHits()
      .flat()
      .reduce((sum, hits) => sum + hits, 0)
  const began = performance.now()
  let [sent, half, most] = [0, 0, 0]
  while (passed() < count) {
    engine.injectPackets(peer, datagrams(sent, FLOWS_AT_ONCE))
    sent += FLOWS_AT_ONCE
    while (passed() < sent - dropped()) await setImmediate()
    engine.device.receive()
    engine.takeRefusals()
    most = Math.max(most, engine.flowCount)
    if (half === 0 && sent >= count / 2) half = process.memoryUsage.rss()
  }
  const seconds = (performance.now() - began) / 1_000
  const grownMB = (process.memoryUsage.rss() - half) / 1e6
  engine.close()
  return { flows: sent, seconds, grownMB, most }

  function dropped(): number {
    const { inboundFull = 0 } = engine.stats().peers.get(peer)?.drops ?? {}
    return inboundFull
  }
}

/** Datagrams behind each other, each of a flow of its own. */
function datagrams(from: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count * DATAGRAM_BYTES)
  for (let at = 0; at < count; at++) {
    const n = from + at
    const [source, port] = [n >>> 14, n & 0x3fff]
    bytes.set(
      [0x45, 0, 0, DATAGRAM_BYTES, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 60 + (source >> 16)],
      at * DATAGRAM_BYTES,
    )
    bytes.set([source >> 8, source, ...SELF.split('.').map(Number)], at * DATAGRAM_BYTES + 14)
    bytes.set([port >> 8, port, 3, 232, 0, 8, 0, 0], at * DATAGRAM_BYTES + 20)
  }
  return bytes
}
