import { generateKeyPairSync } from 'node:crypto'
import { type PeerId, silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { KeyChannels } from './key-channels.ts'
import type { PeerKey } from './key-registry.ts'
import {
  CONTROL_MESSAGES_PER_MINUTE,
  KEY_EXCHANGE_MS,
  MAX_CONTROL_BYTES,
  MAX_OWN_EXCHANGES,
  SECOND_OPENER_MS,
  SERVED_EXCHANGES,
} from './limits.ts'
import { VPN_PROTOCOL } from '../wire/limits.ts'
import { createRefusalCounter } from '../streams/refusals.ts'
import { peerOf } from '../testing/memory-machine.ts'
import { createMemoryNetwork, type MemoryNetwork } from '../testing/memory-network.ts'
import { readAll } from '../testing/memory-stream.ts'

const [SMALLER, GREATER] = [peerOf(1), peerOf(2)].toSorted() as [PeerId, PeerId]
const options = { maxMessageBytes: MAX_CONTROL_BYTES }

let network: MemoryNetwork
let clock: ReturnType<typeof createManualClock>

beforeEach(() => {
  network = createMemoryNetwork()
  clock = createManualClock()
})

describe('control channels', () => {
  it('are opened by the smaller peer id, and both have the same preshared key', async () => {
    const [smaller, greater] = [await createEnd(SMALLER), await createEnd(GREATER)]
    network.connect(SMALLER, GREATER)
    await clock.advance(1)
    await flush()
    expect(live().map(({ from }) => from)).toEqual([SMALLER])
    expect(smaller.keys.keyOf(GREATER)).toMatchObject({ publicKey: greater.publicKey, mtu: 1280 })
    expect(greater.keys.keyOf(SMALLER)).toMatchObject({ publicKey: smaller.publicKey })
    expect(greater.keys.keyOf(SMALLER)?.presharedKey).toEqual(smaller.keys.keyOf(GREATER)?.presharedKey)
    await clock.advance(10 * SECOND_OPENER_MS)
    await flush()
    expect(network.opened).toHaveLength(1)
  })

  it('tell which address a peer counts under, as long as one stands', async () => {
    const [smaller] = [await createEnd(SMALLER), await createEnd(GREATER)]
    expect(smaller.keys.memberOf(GREATER)?.address).toBe(undefined)
    network.connect(SMALLER, GREATER)
    await clock.advance(1)
    await flush()
    expect(smaller.keys.memberOf(GREATER)?.address).toBe(`address of ${GREATER}`)
    network.disconnect(SMALLER, GREATER)
    await flush()
    expect(smaller.keys.memberOf(GREATER)?.address).toBe(undefined)
  })

  it('are opened by the greater one after a while when the smaller does not', async () => {
    await createEnd(GREATER)
    const silent = network.join(SMALLER)
    await silent.network.channels.handle(VPN_PROTOCOL, options, async () => {})
    network.connect(SMALLER, GREATER)
    await clock.advance(SECOND_OPENER_MS - 1)
    await flush()
    expect(network.opened).toEqual([])
    await clock.advance(1)
    await flush()
    expect(network.opened).toHaveLength(1)
  })

  it('of two that were opened at once the greater one closes its own', async () => {
    const [smaller, greater] = [await createEnd(SMALLER), await createEnd(GREATER)]
    network.connect(SMALLER, GREATER)
    const never = new AbortController().signal
    await Promise.all([smaller.keys.exchange(GREATER, never), greater.keys.exchange(SMALLER, never)])
    await flush()
    expect(network.opened).toHaveLength(2)
    expect(live().map(({ from }) => from)).toEqual([SMALLER])
    expect([smaller.lost, greater.lost]).toEqual([0, 0])
    expect([smaller.told.length, greater.told.length]).toEqual([1, 1])
  })

  it('take a new key of the same peer in place of the old one', async () => {
    const [smaller, greater] = [await createEnd(SMALLER), await createEnd(GREATER)]
    smaller.keys.setPeers(new Set([GREATER]))
    network.connect(SMALLER, GREATER)
    await clock.advance(1)
    await flush()
    greater.keys.stop()
    network.disconnect(SMALLER, GREATER)
    await flush()
    expect(smaller.lost).toBe(1)
    expect(smaller.keys.keyOf(GREATER)?.publicKey).toEqual(greater.publicKey)
    const again = await createEnd(GREATER)
    network.connect(SMALLER, GREATER)
    await clock.advance(KEY_EXCHANGE_MS)
    await flush()
    expect(smaller.keys.keyOf(GREATER)?.publicKey).toEqual(again.publicKey)
    expect(smaller.told).toHaveLength(2)
    expect(live()).toHaveLength(1)
  })

  it('forget the key of a member that has no entry and is gone, and tell', async () => {
    const [smaller] = [await createEnd(SMALLER), await createEnd(GREATER)]
    network.connect(SMALLER, GREATER)
    await clock.advance(1)
    await flush()
    network.disconnect(SMALLER, GREATER)
    await flush()
    expect(smaller.keys.keyOf(GREATER)).toBeUndefined()
    expect(smaller.told.at(-1)).toBeUndefined()
  })

  it('give up after ten seconds, and try again after growing waits', async () => {
    const smaller = await createEnd(SMALLER)
    const silent = network.join(GREATER)
    await silent.network.channels.handle(VPN_PROTOCOL, options, () => new Promise(() => {}))
    network.connect(SMALLER, GREATER)
    await clock.advance(1)
    await flush()
    const waiting = smaller.keys.exchange(GREATER, new AbortController().signal)
    const outcome = waiting.catch((error: unknown) => error)
    await clock.advance(KEY_EXCHANGE_MS)
    await flush()
    expect(await outcome).toMatchObject({ code: 'vpn.no_keys' })
    expect(smaller.refusals.counts()).toEqual({ 'key.timeout': 1 })
    for (let minute = 0; minute < 600; minute++) {
      await clock.advance(1000)
      await flush()
    }
    expect(network.opened.length).toBeGreaterThan(5)
    expect(network.opened.length).toBeLessThan(25)
  })

  it('are asked for by a few peers at a time, and served to not too many', async () => {
    const own = await createEnd(SMALLER)
    for (let number = 0; number < 100; number++) {
      const other = network.join(peerOf(3000 + number))
      await other.network.channels.handle(VPN_PROTOCOL, options, () => new Promise(() => {}))
      network.connect(SMALLER, peerOf(3000 + number))
    }
    await clock.advance(SECOND_OPENER_MS)
    await flush()
    expect(network.opened).toHaveLength(MAX_OWN_EXCHANGES)
    for (let number = 0; number < SERVED_EXCHANGES.all + 9; number++) {
      const other = network.join(peerOf(5000 + number))
      await other.network.channels.open(SMALLER, VPN_PROTOCOL, options)
    }
    await flush()
    expect(own.refusals.counts()).toEqual({ 'key.too_many': 9 })
  })

  it('are served to peers of one address up to its share', async () => {
    network = createMemoryNetwork((peer) => (peer === GREATER ? 'another' : 'one'))
    const own = await createEnd(SMALLER)
    for (let number = 0; number < (SERVED_EXCHANGES.perAddress ?? 0) + 9; number++) {
      const other = network.join(peerOf(5000 + number))
      await other.network.channels.open(SMALLER, VPN_PROTOCOL, options)
    }
    await flush()
    expect(own.refusals.counts()).toEqual({ 'key.too_many': 9 })
    const newcomer = await createEnd(GREATER)
    await newcomer.keys.exchange(SMALLER, new AbortController().signal)
    expect(own.keys.keyOf(GREATER)?.publicKey).toEqual(newcomer.publicKey)
  })

  it('are reset when they are flooded, also with messages of later versions', async () => {
    const [smaller] = [await createEnd(SMALLER)]
    const other = network.join(GREATER)
    const channel = await other.network.channels.open(SMALLER, VPN_PROTOCOL, options)
    for (let sent = 0; sent <= CONTROL_MESSAGES_PER_MINUTE; sent++) await channel.send(Uint8Array.of(72, 1))
    await expect(readAll(channel)).rejects.toThrow('reset')
    expect(smaller.refusals.counts()).toEqual({ 'key.flood': 1 })
  })

  it('leave nothing behind', async () => {
    const ends = [await createEnd(SMALLER), await createEnd(GREATER)]
    network.connect(SMALLER, GREATER)
    await clock.advance(1)
    await flush()
    const waiting = ends[0]?.keys.exchange(peerOf(77), new AbortController().signal)
    const outcome = waiting?.catch((error: unknown) => error)
    for (const { keys } of ends) keys.stop()
    expect(await outcome).toMatchObject({ code: expect.stringMatching(/^vpn\./) })
    await flush()
    expect(live()).toEqual([])
    await clock.advance(0)
    expect(clock.pending).toBe(0)
  })
})

async function createEnd(self: PeerId) {
  const member = network.join(self)
  const refusals = createRefusalCounter(silentLogger)
  const pair = pairOfKeys()
  const end = {
    publicKey: pair.publicKey,
    refusals,
    told: [] as (PeerKey | undefined)[],
    lost: 0,
    keys: new KeyChannels(
      { self, ...pair, networkKey: 'network key', mtu: 1280 },
      {
        channels: member.network.channels,
        clock,
        random: createSeededRandom(3),
        log: silentLogger,
        refusals,
        onKey: (_, key) => void end.told.push(key),
        onLost: () => void end.lost++,
        onOpen: () => {},
        onPaths: () => {},
      },
    ),
  }
  await end.keys.start()
  return end
}

function pairOfKeys() {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  return {
    publicKey: new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)),
    privateKey: new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)),
  }
}

function live() {
  return network.opened.filter(({ pair }) => !pair.ended)
}

async function flush(): Promise<void> {
  for (let round = 0; round < 40; round++) await new Promise((resolve) => setImmediate(resolve))
}
