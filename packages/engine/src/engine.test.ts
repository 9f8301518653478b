import { randomBytes } from 'node:crypto'
import { type Cidr, MeshError, parseCidr, peerIdFromPublicKey, type PeerId } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import * as surface from './index.ts'
import {
  DROP_REASONS,
  type EngineEvent,
  type EngineTable,
  framesOf,
  allowFragments,
  capSegments,
  markSocket,
  openEngine,
  type Tunnel,
} from './index.ts'
import { loadAddon } from './native.ts'
import { type MemoryEngine, nativeNames, openMemoryEngine } from './testing.ts'
import { createEngineWire } from '../test/engine-wire.ts'

const whyNoAddon = reasonAgainstAddon()

const peers = [1, 2, 3].map((byte) => peerIdFromPublicKey(new Uint8Array(32).fill(byte)))
const [A, B, C] = peers as [PeerId, PeerId, PeerId]
const presharedKey = new Uint8Array(32).fill(7)
const opened: MemoryEngine[] = []

afterEach(() => {
  for (const engine of opened.splice(0)) engine.close()
})

it('has these public names', () => {
  expect(Object.keys(surface).toSorted()).toEqual([
    'DROP_REASONS',
    'MAX_BATCH_BYTES',
    'MAX_OUTBOUND_BYTES',
    'allowFragments',
    'capSegments',
    'endpointText',
    'engineSupport',
    'framesOf',
    'kernelSupport',
    'markSocket',
    'openEngine',
    'openKernelEngine',
    'trimMemory',
  ])
})

it('tells frames apart and stops at half a one', () => {
  const batch = Uint8Array.of(0, 2, 8, 9, 0, 0, 0, 1, 7, 0, 5, 1)
  expect([...framesOf(batch)].map((frame) => [...frame])).toEqual([[8, 9], [], [7]])
})

it('says why there is no interface, and what to do', () => {
  const support = surface.engineSupport({ addon: '/nowhere/mesh-engine.node' })
  expect(support).toMatchObject({ supported: false, code: 'engine.no_addon' })
  expect(support.supported ? '' : support.hint).not.toBe('')
})

it.skipIf(whyNoAddon !== undefined)('names the module that the kernel is missing, in a container too', () => {
  const support = surface.kernelSupport()
  if (support.supported || support.code === 'engine.no_permission') return
  expect(support.code).toBe('engine.no_kernel_wireguard')
  expect(support.hint).toContain('modprobe wireguard')
})

it.skipIf(whyNoAddon !== undefined)(
  'gives freed memory back, which the C library kept below what lives',
  () => {
    const residentKb = () => process.memoryUsage.rss() / 1024
    // below the size that the library takes from the system by itself, and each second one lives
    const buffers = Array.from({ length: 4_000 }, () => Buffer.allocUnsafeSlow(32 * 1024).fill(1))
    for (const [at, { buffer }] of buffers.entries()) if (at % 40 !== 0) buffer.transfer(0)
    const before = residentKb()
    const isGiven = surface.trimMemory()
    expect(buffers).toHaveLength(4_000)
    expect(isGiven && residentKb() >= before).toBe(false)
  },
)

it.skipIf(whyNoAddon !== undefined)('says so when a descriptor that is to be marked is no socket', () => {
  const code = (call: () => void) => {
    try {
      call()
    } catch (error) {
      return error instanceof MeshError ? error.code : error
    }
    return undefined
  }
  expect(code(() => markSocket(-1, 5))).toBe('engine.system')
  expect(code(() => markSocket(0, 5, '/nowhere/mesh-engine.node'))).toBe('engine.no_addon')
  expect(code(() => capSegments(-1, 1_220))).toBe('engine.system')
  expect(code(() => capSegments(0, 1_220, '/nowhere/mesh-engine.node'))).toBe('engine.no_addon')
  expect(code(() => allowFragments(-1))).toBe('engine.system')
  expect(code(() => allowFragments(0, '/nowhere/mesh-engine.node'))).toBe('engine.no_addon')
})

describe.skipIf(whyNoAddon !== undefined)(`two engines in one process${because(whyNoAddon)}`, () => {
  it('carries packets of both families both ways through a session', async () => {
    const { a, b, events } = joined()
    const there = packet('10.1.0.1', '10.1.0.2', 600)
    expect(a.device.send(there)).toBe(true)
    expect(await received(b)).toEqual([there])
    const back = packet('fd00::2', 'fd00::1', 1000)
    b.device.send(back)
    expect(await received(a)).toEqual([back])
    expect(events).toContainEqual({ type: 'session', peer: B })
    expect(a.stats().peers.get(B)).toMatchObject({
      packetsOut: 1,
      bytesOut: there.length,
      packetsIn: 1,
      drops: {},
    })
  })

  it("drops and counts a packet whose source is not the sender's", async () => {
    const { a, b } = joined()
    a.setTable(table([B, ['0.0.0.0/0'], b.publicKey], ['0.0.0.0/0']))
    a.device.send(packet('10.1.0.9', '10.1.0.2', 100))
    await eventually(() => expect(b.stats().peers.get(A)?.drops).toEqual({ spoofedSource: 1 }))
    expect(b.device.receive()).toEqual([])
  })

  it('counts packets that nobody owns', async () => {
    const { a } = joined()
    a.device.send(packet('10.1.0.1', '10.1.0.77', 10))
    a.device.send(packet('10.1.0.1', '224.0.0.251', 10))
    await eventually(() => expect(a.stats().device.drops).toEqual({ noRoute: 1, multicast: 1 }))
  })

  it('bounds what waits for a stream that stands still', async () => {
    const a = open({ onEvent: () => {} })
    a.setTable(legacyTable(C))
    const waiting = packet('10.1.0.1', '10.1.0.3', 1200)
    const fit = Math.floor(surface.MAX_OUTBOUND_BYTES / (waiting.length + 2))
    for (let sent = 0; sent < 600; sent++) await eventually(() => expect(a.device.send(waiting)).toBe(true))
    await eventually(() => expect(a.stats().peers.get(C)?.drops).toEqual({ outboundFull: 600 - fit }))
    let frames = 0
    for (let batch = a.take(C); batch !== undefined; batch = a.take(C)) {
      expect(batch.length).toBeLessThanOrEqual(surface.MAX_BATCH_BYTES)
      frames += [...framesOf(batch)].length
    }
    expect(frames).toBe(fit)
  })

  it('tells once when a stream is broken, and takes a new one', async () => {
    const { a, b, events } = joined()
    b.inject(A, Uint8Array.of(0, 1, 2))
    b.inject(A, Uint8Array.of(0, 1, 2))
    await eventually(() => expect(events).toEqual([{ type: 'broken', peer: A }]))
    expect(b.stats().peers.get(A)?.drops).toEqual({ badFrame: 2 })
    b.restart(A)
    a.device.send(packet('10.1.0.1', '10.1.0.2', 50))
    expect(await received(b)).toHaveLength(1)
  })

  it('asks for a path while a peer has no tunnel, and sends what waited once it has one', async () => {
    const { a, b, events } = joined()
    const stream = table([B, ['10.1.0.2/32'], b.publicKey], ['10.1.0.1/32'])
    a.setTable(withTunnel(stream, { kind: 'none' }))
    const waiting = [1, 2, 3].map((payload) => packet('10.1.0.1', '10.1.0.2', payload))
    for (const one of waiting) a.device.send(one)
    await eventually(() => expect(events).toEqual([{ type: 'pathNeeded', peer: B }]))
    a.inject(B, new Uint8Array(50))
    a.injectPackets(B, packet('10.1.0.2', '10.1.0.1', 1))
    expect(a.stats().peers.get(B)?.drops).toEqual({ noTunnel: 2 })
    a.setTable(stream)
    expect(await received(b, 3)).toEqual(waiting)
  })

  it('sends what waited for a path unsealed to a legacy member, within its MTU', async () => {
    const seen: EngineEvent[] = []
    const a = open({ onEvent: (event) => seen.push(event) })
    const legacy = legacyTable(C)
    a.setTable(withTunnel(legacy, { kind: 'none' }))
    for (const payload of [100, 1250]) a.device.send(packet('10.1.0.1', '10.1.0.3', payload))
    await eventually(() => expect(seen).toEqual([{ type: 'pathNeeded', peer: C }]))
    a.setTable({ ...legacy, peers: legacy.peers.map((peer) => ({ ...peer, mtu: 1200 })) })
    await eventually(() => expect(a.stats().peers.get(C)?.drops).toEqual({ tooBig: 1 }))
    expect([...framesOf(a.take(C) ?? new Uint8Array())].map(({ length }) => length)).toEqual([120])
    expect(a.device.receive()).toHaveLength(1)
  })

  it('makes a session at once after its handshake was lost with a stream', async () => {
    const wire = createEngineWire()
    let lost = 0
    const c = open({
      onEvent(event) {
        if (lost > 0) return wire.from(C)(event)
        while (c.take(B) !== undefined) lost++
      },
    })
    const d = open({ onEvent: wire.from(B) })
    wire.add(C, c)
    wire.add(B, d)
    d.setTable(table([C, ['10.1.0.1/32'], c.publicKey], ['10.1.0.2/32']))
    c.setTable(table([B, ['10.1.0.2/32'], d.publicKey], ['10.1.0.1/32']))
    c.device.send(packet('10.1.0.1', '10.1.0.2', 10))
    await eventually(() => expect(lost).toBe(1))
    const began = performance.now()
    c.retryHandshake(B)
    expect(await received(d)).toHaveLength(1)
    expect(performance.now() - began).toBeLessThan(4000)
  })

  it('hands packets to legacy members up as they are, and takes them in through the same filter', async () => {
    const seen: EngineEvent[] = []
    const a = open({ onEvent: (event) => seen.push(event) })
    a.setTable(legacyTable(C))
    const there = packet('10.1.0.1', '10.1.0.3', 300)
    a.device.send(there)
    await eventually(() => expect(seen).toEqual([{ type: 'readable', peer: C }]))
    const batch = a.take(C)
    expect([...framesOf(batch ?? new Uint8Array())].map((frame) => Uint8Array.from(frame))).toEqual([there])
    expect(a.take(C)).toBeUndefined()
    const back = packet('10.1.0.3', '10.1.0.1', 20)
    a.injectPackets(C, Buffer.concat([back, packet('10.1.0.4', '10.1.0.1', 20), back]))
    expect(await received(a, 2)).toEqual([back, back])
    expect(a.stats().peers.get(C)?.drops).toEqual({ spoofedSource: 1 })
  })

  it('refuses tables that contradict themselves, and keeps the one before', async () => {
    const { a, b } = joined()
    const twice = table([B, ['10.1.0.2/32'], b.publicKey], [])
    for (const wrong of [
      { ...twice, peers: [...twice.peers, ...twice.peers] },
      { ...twice, peers: [...twice.peers, ...table([C, ['10.1.0.2/32'], b.publicKey], []).peers] },
      table([B, ['10.1.0.2/32'], b.publicKey.subarray(1)], []),
      {
        local: [],
        peers: [{ peer: B, allowed: [], mtu: 12, tunnel: { kind: 'legacy' } }],
      } satisfies EngineTable,
    ])
      expect(() => a.setTable(wrong)).toThrow(MeshError)
    a.device.send(packet('10.1.0.1', '10.1.0.2', 50))
    expect(await received(b)).toHaveLength(1)
  })

  it('is deaf and quiet after close', async () => {
    const { a, b } = joined()
    a.device.send(packet('10.1.0.1', '10.1.0.2', 50))
    await received(b)
    a.close()
    a.close()
    expect(a.device.send(packet('10.1.0.1', '10.1.0.2', 50))).toBe(false)
    expect(a.take(B)).toBeUndefined()
    a.inject(B, new Uint8Array(100))
    expect(() => a.setTable({ local: [], peers: [] })).toThrow('closed')
  })

  it('names drop reasons and events as the addon does', () => {
    const events: Record<Exclude<EngineEvent['type'], 'guestSession'>, 0> = {
      session: 0,
      silent: 0,
      broken: 0,
      writable: 0,
      readable: 0,
      pathNeeded: 0,
      datagrams: 0,
      interface: 0,
      networks: 0,
      failed: 0,
    }
    expect(nativeNames()).toEqual({
      reasons: [...DROP_REASONS],
      events: Object.keys(events),
    })
  })

  it('refuses an interface name that cannot be', () => {
    const init = { addresses: [], mtu: 1280, privateKey: randomBytes(32), onEvent: () => {} }
    for (const name of ['', 'a name', 'much-too-long-name', 'a/b'])
      expect(() => openEngine({ ...init, name })).toThrow(
        expect.objectContaining({ code: 'engine.bad_name' }),
      )
  })
})

function open(init: { onEvent: (event: EngineEvent) => void }): MemoryEngine {
  const engine = openMemoryEngine({ privateKey: randomBytes(32), ...init })
  opened.push(engine)
  return engine
}

function joined() {
  const events: EngineEvent[] = []
  const wire = createEngineWire((_, event) => events.push(event))
  const [a, b] = [open({ onEvent: wire.from(A) }), open({ onEvent: wire.from(B) })]
  wire.add(A, a)
  wire.add(B, b)
  a.setTable(table([B, ['10.1.0.2/32', 'fd00::2/128'], b.publicKey], ['10.1.0.1/32', 'fd00::1/128']))
  b.setTable(table([A, ['10.1.0.1/32', 'fd00::1/128'], a.publicKey], ['10.1.0.2/32', 'fd00::2/128']))
  return { a, b, events }
}

function table([peer, allowed, publicKey]: [PeerId, string[], Uint8Array], local: string[]): EngineTable {
  const tunnel = { kind: 'wireguard', publicKey, presharedKey, path: { kind: 'stream' } } as const
  return { local: ranges(local), peers: [{ peer, allowed: ranges(allowed), mtu: 1280, tunnel }] }
}

function legacyTable(peer: PeerId): EngineTable {
  const allowed = ranges(['10.1.0.3/32'])
  return { local: ranges(['10.1.0.1/32']), peers: [{ peer, allowed, mtu: 1280, tunnel: { kind: 'legacy' } }] }
}

function withTunnel(table: EngineTable, tunnel: Tunnel): EngineTable {
  return { ...table, peers: table.peers.map((peer) => ({ ...peer, tunnel })) }
}

function ranges(texts: readonly string[]): Cidr[] {
  return texts.map(parseCidr)
}

async function received(engine: MemoryEngine, count = 1): Promise<Uint8Array[]> {
  const packets: Uint8Array[] = []
  await eventually(() => {
    packets.push(...engine.device.receive().map((packet) => Uint8Array.from(packet)))
    expect(packets.length).toBeGreaterThanOrEqual(count)
  })
  return packets
}

/** An IP packet of protocol 253 (for experiments), with a payload of zeros. */
function packet(source: string, destination: string, payload: number): Uint8Array {
  if (!source.includes(':')) {
    const bytes = new Uint8Array(20 + payload)
    bytes.set([0x45, 0, (20 + payload) >> 8, 20 + payload, 0, 0, 0x40, 0, 64, 253])
    bytes.set(source.split('.').map(Number), 12)
    bytes.set(destination.split('.').map(Number), 16)
    return bytes
  }
  const bytes = new Uint8Array(40 + payload)
  bytes.set([0x60, 0, 0, 0, payload >> 8, payload, 253, 64])
  for (const [at, text] of [
    [8, source],
    [24, destination],
  ] as const) {
    bytes.set([0xfd, 0], at)
    bytes[at + 15] = Number(text.split('::')[1])
  }
  return bytes
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : ` (skipped: ${reason})`
}

function reasonAgainstAddon(): string | undefined {
  try {
    loadAddon()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
