import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { createRelayReservations } from './relay-reservations.ts'

const RELAY = '12D3KooWCGCgNafsoD2SLPH8qtaeQVXi9BJwVBphZNYq6jHMHNrN'
const [OWN, RELAYED] = ['/ip4/192.0.2.7/tcp/4001', `/ip4/192.0.2.1/tcp/4001/p2p/${RELAY}/p2p-circuit`]

test('the relays are read anew when listeners changed, and not before', () => {
  let addresses = [OWN, RELAYED]
  let reads = 0
  const getAddrs = () => {
    reads++
    return addresses.map((text) => multiaddr(text))
  }
  const services = { parts: { components: { transportManager: { getAddrs } } } }
  const host = Object.assign(new EventTarget(), { services })
  const reservations = createRelayReservations({ host: host as never })
  expect([reservations.relays(), reservations.relays()]).toEqual([[RELAY], [RELAY]])
  expect(reads).toBe(1)
  addresses = [OWN]
  // libp2p says so when a reservation ended, too
  host.dispatchEvent(new Event('transport:listening'))
  expect(reservations.relays()).toEqual([])
  addresses = [RELAYED]
  host.dispatchEvent(new Event('transport:close'))
  expect(reservations.relays()).toEqual([RELAY])
  expect(reads).toBe(3)
})
