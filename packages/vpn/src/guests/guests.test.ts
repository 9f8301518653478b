import { heartbeatValue, parseCidr, parseIp, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger, createSigner, type Ledger } from '@mesh/ledger'
import { expect, test } from 'vitest'
import { encodeGuestFile } from './guest-file.ts'
import { Guests } from './guests.ts'
import { MAX_GUESTS, MAX_GUESTS_WITH_IPV6 } from './limits.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const GUEST = { name: 'phone', address: '10.1.0.9', publicKey: KEY, presharedKey: KEY, addedAt: 5 }

function guestsOf(text: string | undefined): Guests {
  const machine = { Hostname: 'edge', OS: 'linux', Arch: 'amd64', Version: '1' }
  const unused = () => {
    throw new Error('the engine is checked first')
  }
  return new Guests(
    {
      options: { wireguard: 'kernel', machine },
      ranges: [parseCidr('10.1.0.0/24')],
      derivedRange: parseCidr('fd00::/64'),
      own: { all: unused, pastOthers: unused },
      accepted: unused,
      udpPort: unused,
      candidates: unused,
      hasExit: unused,
      counters: unused,
      neighbours: unused,
      onChange: unused,
    },
    {
      announce: unused,
      ledger: {} as ConstructorParameters<typeof Guests>[1]['ledger'],
      store: { read: () => text, write: unused },
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    },
  )
}

test("a node with the kernel's WireGuard takes no guests, and does not start with those that it has", async () => {
  const refusal = expect.objectContaining({ code: 'vpn.guests_need_engine' })
  await expect(guestsOf(undefined).add({ name: 'phone' }, AbortSignal.timeout(1_000))).rejects.toEqual(
    refusal,
  )
  expect(() => guestsOf(undefined).start()).not.toThrow()
  const file = encodeGuestFile({ privateKey: KEY, port: 4711, guests: [GUEST as never] })
  expect(() => guestsOf(file).start()).toThrow(refusal)
})

/** A node that is connected to nobody unless told so, with a ledger of its own. */
async function added({
  neighbours = 0,
  ranges = ['10.1.0.0/24'],
  hasExit = false,
  endpoint = 'vpn.example.org',
} = {}) {
  let address = '5.5.5.5'
  const ledger = createLedger(
    { mode: 'enforce' },
    { signer: createSigner(new Uint8Array(32).fill(7)), clock: systemClock },
  )
  await ledger.put('healthcheck', ledger.self, heartbeatValue(systemClock.now())).settled
  const machine = { Hostname: 'edge', OS: 'linux', Arch: 'amd64', Version: '1' }
  const guests = new Guests(
    {
      options: { machine, ...(endpoint !== '' && { guestEndpoint: endpoint }) },
      ranges: ranges.map(parseCidr),
      derivedRange: parseCidr('fd00::/64'),
      own: { all: () => [], pastOthers: () => [] },
      accepted: () => [],
      udpPort: () => 4711,
      candidates: () => [{ endpoint: { address: parseIp(address), port: 4711 }, kind: 'own' }],
      hasExit: () => hasExit,
      counters: () => new Map(),
      neighbours: () => neighbours,
      onChange: () => {},
    },
    {
      announce: () => () => {},
      ledger,
      store: { read: () => undefined, write: () => {} },
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    },
  )
  return { guests, ledger, moveTo: (to: string) => void (address = to) }
}

function claimed(ledger: Ledger): readonly string[] {
  return [...ledger.snapshot().entries('machines')].flatMap(({ key, entry }) => (entry.deleted ? [] : [key]))
}

test('two guests of one name are not added at the same time, and who gives up leaves nothing claimed', async () => {
  const { guests, ledger } = await added({ neighbours: 1 })
  const giveUp = new AbortController()
  const first = guests.add({ name: 'phone' }, giveUp.signal)
  await expect(guests.add({ name: 'Phone' }, giveUp.signal)).rejects.toMatchObject({
    code: 'vpn.guest_exists',
  })
  await expect.poll(() => claimed(ledger)).toHaveLength(1)
  giveUp.abort(new Error('nobody waits'))
  await expect(first).rejects.toThrow('nobody waits')
  await expect.poll(() => claimed(ledger)).toEqual([])
  expect([guests.all(), guests.addresses()]).toEqual([[], []])
})

test('the bound holds for guests that are added at the same time, and the first have IPv6 too', async () => {
  const { guests, ledger } = await added({ ranges: ['10.1.0.0/24', 'fd00:1::/64'] })
  const names = Array.from({ length: MAX_GUESTS + 3 }, (_, at) => `phone${at}`)
  const signal = AbortSignal.timeout(20_000)
  const outcomes = await Promise.allSettled(names.map((name) => guests.add({ name }, signal)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_GUESTS)
  expect(new Set(guests.addresses()).size).toBe(MAX_GUESTS + MAX_GUESTS_WITH_IPV6)
  expect(claimed(ledger)).toHaveLength(MAX_GUESTS + MAX_GUESTS_WITH_IPV6)
})

test('a full tunnel takes all, IPv6 too, and is refused where it would end here', async () => {
  const signal = AbortSignal.timeout(20_000)
  const without = await added()
  await expect(without.guests.add({ name: 'phone', fullTunnel: true }, signal)).rejects.toMatchObject({
    code: 'vpn.no_exit',
  })
  const { guests } = await added({ hasExit: true })
  const { configuration } = await guests.add({ name: 'phone', fullTunnel: true }, signal)
  expect(configuration).toContain('\nAllowedIPs = 0.0.0.0/0, ::/0\n')
  const { configuration: other } = await guests.add({ name: 'other' }, signal)
  expect(other).toContain('\nAllowedIPs = 10.1.0.0/24\n')
  expect(guests.list().map(({ name, fullTunnel }) => [name, fullTunnel])).toEqual([
    ['phone', true],
    ['other', false],
  ])
})

test('each guest is told where the node is when it is added, and who was told another place is named', async () => {
  const signal = AbortSignal.timeout(20_000)
  const { guests, moveTo } = await added({ endpoint: '' })
  const { endpoint } = await guests.add({ name: 'old' }, signal)
  expect(endpoint).toBe('5.5.5.5:4711')
  await guests.add({ name: 'named', endpoint: 'vpn.example.org:5000' }, signal)
  moveTo('5.5.5.99')
  const { configuration } = await guests.add({ name: 'new' }, signal)
  expect(configuration).toContain('\nEndpoint = 5.5.5.99:4711\n')
  expect(guests.list().map(({ name, findsNodeAt, isLost }) => [name, findsNodeAt, isLost])).toEqual([
    ['old', '5.5.5.5:4711', true],
    ['named', 'vpn.example.org:5000', false],
    ['new', '5.5.5.99:4711', false],
  ])
  expect(guests.problems()).toEqual([
    expect.objectContaining({
      code: 'vpn.guest_endpoint',
      title: expect.stringContaining('old at 5.5.5.5:4711') as string,
    }),
  ])
})
