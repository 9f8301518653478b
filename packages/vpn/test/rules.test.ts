/** Rules between machines of one VPN in memory: in force from the start, changed while packets pass, told and counted. */
import { type Cidr, parseCidr, type PeerId } from '@mesh/core'
import { openMemoryEngine } from '@mesh/engine/testing'
import { eventually } from '@mesh/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import type { PacketRules, Refusal } from '../src/index.ts'
import { markOf } from '@mesh/vpn/testing'
import { createVpnLab, packet, type VpnLab, type VpnNode } from './vpn-lab.ts'

const SOON = { withinMs: 20_000 }
const whyNoAddon = reasonAgainstAddon()
const labs: VpnLab[] = []

afterEach(async () => {
  for (const made of labs.splice(0)) await made.stop()
})

/** Machine 1 lets in what machine 2 sends it, and nothing of others. */
const only2 = rulesFrom(parseCidr('10.1.0.2/32'))

function rulesFrom(...sources: readonly Cidr[]): PacketRules {
  const ranges = [
    ...sources.map((range) => ({ range, sets: [1] })),
    { range: parseCidr('10.1.0.1/32'), sets: [2] },
  ]
  return { ranges, layers: [[{ from: 1, to: 2, on: [] }]], silent: false }
}

describe.skipIf(whyNoAddon !== undefined)(
  `rules of a VPN in memory${whyNoAddon ?? ''}`,
  { timeout: 60_000 },
  () => {
    it('are in force from the first packet, and tell what they refused', async () => {
      const made = lab()
      const a = await made.node(1, { addresses: ['10.1.0.1/24'], rules: only2 })
      await a.vpn.start()
      const [b, c] = (await made.running(2, 3)) as [VpnNode, VpnNode]
      await refused(c, a)
      await passes(b, a)
      const seen = { source: '10.1.0.3', destination: '10.1.0.1', protocol: 253, port: undefined }
      await eventually(
        () => expect(a.events).toContainEqual({ type: 'refusals', refusals: expect.anything() }),
        SOON,
      )
      await eventually(() => expect(told(a)).toContainEqual(expect.objectContaining(seen)), SOON)
      const { rules } = a.vpn.status()
      expect(rules?.hits).toEqual([[1]])
      expect(rules?.refusals).toEqual([expect.objectContaining({ ...seen, last: expect.any(Number) })])
      expect(dropsAt(a, c.peer)).toMatchObject({ refusedByRules: expect.any(Number) })
      expect(b.vpn.status().rules).toBeUndefined()
    })

    it('end what a change forbids, and keep the rest', async () => {
      const [a, b, c] = (await lab().running(1, 2, 3)) as [VpnNode, VpnNode, VpnNode]
      for (const from of [b, c]) await passes(from, a)
      a.vpn.setRules(only2)
      await passes(b, a)
      await refused(c, a)
      a.vpn.setRules(rulesFrom(parseCidr('10.1.0.3/32')))
      await refused(b, a)
      await passes(c, a)
      a.vpn.setRules(undefined)
      for (const from of [b, c]) await passes(from, a)
      expect(a.vpn.problems()).toEqual([])
    })

    it('come again with a new interface', async () => {
      const [a, b, c] = (await lab().running(1, 2, 3)) as [VpnNode, VpnNode, VpnNode]
      a.vpn.setRules(only2)
      a.engineSays({ type: 'failed', message: 'gone' })
      await eventually(() => expect(a.engines).toHaveLength(2), SOON)
      await passes(b, a)
      await refused(c, a)
    })

    it("are no ground to start on the kernel's WireGuard, and close it when they come later", async () => {
      const made = lab()
      const with1 = { addresses: ['10.1.0.1/24'], wireguard: 'kernel' } as const
      const early = await made.node(1, { ...with1, rules: only2 })
      await expect(early.vpn.start()).rejects.toMatchObject({ code: 'vpn.rules_need_engine' })
      expect(early.engines).toEqual([])
      const [a, b] = [
        await made.node(4, { ...with1, addresses: ['10.1.0.4/24'] }),
        await made.node(5, { addresses: ['10.1.0.5/24'] }),
      ]
      for (const node of [a, b]) await node.vpn.start()
      await passes(b, a)
      a.vpn.setRules(only2)
      expect(a.vpn.problems()).toMatchObject([{ code: 'vpn.rules_need_engine', severity: 'error' }])
      expect(a.engines.at(-1)?.stats().peers.size).toBe(0)
      a.vpn.setRules(undefined)
      expect(a.vpn.problems()).toEqual([])
    })
  },
)

function lab(): VpnLab {
  const made = createVpnLab()
  labs.push(made)
  return made
}

/** Each call has a mark of its own for its packets: those of earlier ones may come late. */
let marks = 0

/** Sends until a packet arrives. */
async function passes(from: VpnNode, to: VpnNode): Promise<void> {
  const mark = ++marks
  await eventually(() => {
    from.send(packet(from.v4, to.v4, 60, mark))
    expect(to.received().map(markOf)).toContain(mark)
  }, SOON)
}

/** Sends until a packet was refused; none arrives. */
async function refused(from: VpnNode, to: VpnNode): Promise<void> {
  const mark = ++marks
  const before = refusedAt(to, from.peer)
  await eventually(() => {
    from.send(packet(from.v4, to.v4, 60, mark))
    expect(refusedAt(to, from.peer)).toBeGreaterThan(before)
  }, SOON)
  expect(to.received().map(markOf)).not.toContain(mark)
}

function refusedAt(node: VpnNode, peer: PeerId): number {
  return dropsAt(node, peer).refusedByRules ?? 0
}

function dropsAt(node: VpnNode, peer: PeerId) {
  return node.vpn.status().peers.find((each) => each.peer === peer)?.counters.drops ?? {}
}

function told(node: VpnNode): readonly Refusal[] {
  return node.events.flatMap((event) => (event.type === 'refusals' ? event.refusals : []))
}

function reasonAgainstAddon(): string | undefined {
  try {
    openMemoryEngine({ privateKey: new Uint8Array(32), onEvent: () => {} }).close()
    return undefined
  } catch (error) {
    return ` (skipped: ${String(error)})`
  }
}
