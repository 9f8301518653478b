import { generateKeyPair } from '@libp2p/crypto/keys'
import { circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { identify } from '@libp2p/identify'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import { endReservation } from './granted-reservations.ts'

test('a reservation that is ended leaves its place to another', async () => {
  const reservations = { maxReservations: 1 }
  const host = await createLibp2p({
    services: { identify: identify(), relay: circuitRelayServer({ reservations }) },
  })
  onTestFinished(() => host.stop())
  const { relay } = host.services
  const { reservationStore } = relay as unknown as {
    readonly reservationStore: { reserve(peer: PeerId, from: Multiaddr): { readonly status: string } }
  }
  const [first, second] = [await createPeer(), await createPeer()]
  const from = multiaddr('/ip4/192.0.2.1/tcp/1')
  expect(reservationStore.reserve(first, from).status).toBe('OK')
  expect(reservationStore.reserve(second, from).status).toBe('RESERVATION_REFUSED')
  endReservation(relay, first.toString())
  expect(reservationStore.reserve(second, from).status).toBe('OK')
  endReservation(undefined, second.toString())
})

const createPeer = async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
