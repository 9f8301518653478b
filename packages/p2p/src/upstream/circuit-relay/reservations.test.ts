/** A host of libp2p with our circuits, and a relay that says what a test wants it to. */
import { circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import type { Libp2p, PeerId, Transport } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { createManualClock, eventually, type ManualClock } from '@mesh/testkit'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startRawHost } from '../../../test/raw-peer.ts'
import { writeFrame } from '../../libp2p/frames.ts'
import { RELAY_RESERVATION_MS } from '../../limits.ts'
import { RELAY_HOP } from '../../protocols.ts'
import { buildCircuitTransport } from '../../nat/circuits.ts'
import { endReservations } from './reservations.ts'

const DAY_MS = 86_400_000
afterEach(() => {
  vi.restoreAllMocks()
})

const startHost = (transports: readonly ((components: never) => Transport)[] = []): Promise<Libp2p> =>
  startRawHost({
    transports: [tcp(), ...(transports as unknown as [])],
    services: { identify: identify() },
  })

function encodeVarint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...encodeVarint(Math.floor(value / 128))]
}

/** Grants every reservation, which ends so many ms from now by its own time of day. */
async function startRelay(aheadMs: number): Promise<{ readonly host: Libp2p; asked: number }> {
  const relay = { host: await startHost(), asked: 0 }
  await relay.host.handle(RELAY_HOP, async (stream) => {
    relay.asked++
    const expire = encodeVarint(Math.round((Date.now() + aheadMs + RELAY_RESERVATION_MS) / 1_000))
    // HopMessage: type STATUS, a reservation, status OK
    await writeFrame(stream, Uint8Array.of(0x08, 2, 0x1a, expire.length + 1, 0x08, ...expire, 0x28, 100))
    await stream.close()
  })
  return relay
}

/** Of this machine and of the relay, by which the library goes as well. */
function startClock(): ManualClock {
  const clock = createManualClock()
  vi.spyOn(Date, 'now').mockImplementation(() => clock.now())
  return clock
}

/** Reserves at the relay, and gives what it needs to look at the reservation. */
async function reserveAt(relay: Libp2p, clock: ManualClock): Promise<() => readonly string[]> {
  const host = await startHost([(components: object) => buildCircuitTransport(components, clock)])
  await host.dial(relay.getMultiaddrs())
  const { transportManager } = (
    host as unknown as { components: { transportManager: { listen(a: object[]): Promise<void> } } }
  ).components
  await transportManager.listen([multiaddr(`/p2p/${relay.peerId.toString()}/p2p-circuit`)])
  return () =>
    host
      .getMultiaddrs()
      .map(String)
      .filter((text) => text.includes('p2p-circuit'))
}

describe.each([
  ['right', 0],
  ['a day ahead', DAY_MS],
  ['fifty years ahead', 50 * 365 * DAY_MS],
  ['a day behind', -DAY_MS],
])('at a relay whose clock is %s', (_, aheadMs) => {
  test('a reservation is made, and renewed before it ends and no earlier than it has to be', async () => {
    const clock = startClock()
    const relay = await startRelay(aheadMs)
    const reserved = await reserveAt(relay.host, clock)
    expect(reserved()).toHaveLength(1)
    for (let asked = 1; asked < 4; asked++) {
      await eventually(() => expect([relay.asked, clock.pending]).toEqual([asked, 1]))
      await clock.advance(RELAY_RESERVATION_MS - 320_000)
      expect(relay.asked).toBe(asked)
      await clock.advance(21_000)
    }
    await eventually(() => expect(relay.asked).toBe(4))
    expect(reserved()).toHaveLength(1)
  })
})

test('a reservation is renewed where the clock is set back after it was made', async () => {
  const clock = startClock()
  const relay = await startRelay(0)
  await reserveAt(relay.host, clock)
  clock.stepWall(-DAY_MS)
  await clock.advance(RELAY_RESERVATION_MS - 60_000)
  await eventually(() => expect(relay.asked).toBe(2))
})

test('a reservation that is ended leaves its place to another', async () => {
  const host = await startRawHost({
    transports: [tcp()],
    services: {
      identify: identify(),
      relay: circuitRelayServer({ reservations: { maxReservations: 1 } }),
    },
  })
  const { relay } = host.services as unknown as { readonly relay: object }
  const { reservationStore } = relay as {
    readonly reservationStore: { reserve(peer: PeerId, from: Multiaddr): { readonly status: string } }
  }
  const [first, second] = [await createPeer(), await createPeer()]
  const from = multiaddr('/ip4/192.0.2.1/tcp/1')
  expect(reservationStore.reserve(first, from).status).toBe('OK')
  expect(reservationStore.reserve(second, from).status).toBe('RESERVATION_REFUSED')
  endReservations(relay)(first.toString())
  expect(reservationStore.reserve(second, from).status).toBe('OK')
})

const createPeer = async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
