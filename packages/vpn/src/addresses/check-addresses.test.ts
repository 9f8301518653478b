import { heartbeatValue, parseCidr, tryParseAddressInRange } from '@mesh/core'
import { createLedger, createSigner } from '@mesh/ledger'
import { describe, expect, it } from 'vitest'
import { checkAddressForms, checkHostNetworks, checkNotTaken } from './check-addresses.ts'
import { machineText } from './own-machines.ts'

const given = (text: string) => {
  const address = tryParseAddressInRange(text)
  if (address === undefined) throw new Error(text)
  return address
}

describe('checkAddressForms', () => {
  it.each([
    ['10.1.0.0/24', '--address 10.1.0.0/24 is the address of the network 10.1.0.0/24 itself', '10.1.0.1/24'],
    ['10.1.0.255/24', '--address 10.1.0.255/24 is the broadcast address of 10.1.0.0/24', '10.1.0.1/24'],
    ['127.0.0.2/8', '--address 127.0.0.2/8 is a loopback address', '10.1.0.11/24'],
    ['224.0.0.5/24', '--address 224.0.0.5/24 is a multicast address', '10.1.0.11/24'],
    ['169.254.1.1/16', '--address 169.254.1.1/16 is a link-local address', '10.1.0.11/24'],
    ['0.0.0.9/24', '--address 0.0.0.9/24 is no address of a host', '10.1.0.11/24'],
    [
      '10.1.0.1/4',
      '--address 10.1.0.1/4 has so large a range (0.0.0.0/4) that the Internet would be cut off',
      '10.1.0.11/24',
    ],
    ['::1/128', '--address ::1/128 is a loopback address', 'fd00:1::11/64'],
    ['fe80::1/64', '--address fe80::1/64 is a link-local address', 'fd00:1::11/64'],
    ['ff02::1/64', '--address ff02::1/64 is a multicast address', 'fd00:1::11/64'],
    ['::ffff:10.1.0.1/120', '--address ::ffff:a01:1/120 is an IPv4 address written as IPv6', 'fd00:1::11/64'],
    [
      'fd00:7::/64',
      '--address fd00:7::/64 is the address of the network fd00:7::/64 itself',
      'fd00:1::11/64',
    ],
  ])('refuses %s', (text, message, better) => {
    const [error, ...more] = checkAddressForms([given(text)])
    expect(more).toEqual([])
    expect(error).toMatchObject({ code: 'vpn.bad_address', message })
    expect(error?.hint).toContain(better)
  })

  it('takes all that a host may have, in both families', () => {
    const fine = [
      '10.1.0.1/24',
      '10.1.0.254/24',
      '10.1.0.4/31',
      '10.1.0.9/32',
      'fd00:7::1/64',
      'fd00:8::/127',
    ]
    expect(checkAddressForms(fine.map(given))).toEqual([])
  })

  it('refuses an address that is given twice', () => {
    expect(checkAddressForms([given('10.1.0.1/24'), given('10.1.0.1/16')])).toHaveLength(1)
  })
})

describe('checkHostNetworks', () => {
  const networks = [
    { interface: 'lo', address: given('127.0.0.1/8') },
    { interface: 'eth0', address: given('192.168.1.7/24') },
    { interface: 'wg0', address: given('10.5.0.3/32') },
    { interface: 'mesh0', address: given('10.1.0.11/24') },
    { interface: 'eth0', address: given('fd00:7::3/64') },
  ]
  const check = (range: string) => checkHostNetworks([parseCidr(range)], networks, 'mesh0')

  it.each([
    ['192.168.0.0/16', 'eth0'],
    ['192.168.1.128/25', 'eth0'],
    ['10.5.0.0/24', 'wg0'],
    ['fd00:7::/48', 'eth0'],
  ])('refuses %s and names %s', (range, name) => {
    const [error] = check(range)
    expect(error).toMatchObject({ code: 'vpn.address_in_use', details: { interface: name } })
    expect(error?.message).toContain(`the network of ${name}`)
  })

  it('takes ranges that touch none, and its own interface of an earlier run', () => {
    expect(check('10.1.0.0/24')).toEqual([])
    expect(check('192.168.2.0/24')).toEqual([])
  })
})

describe('checkNotTaken', () => {
  it('names the live member that has the address', async () => {
    const now = Date.now()
    const signer = createSigner(new Uint8Array(32).fill(1))
    const theirs = createLedger({}, { signer })
    const own = ['10.1.0.11', 'fd00::11'].map((text) => given(`${text}/24`).address)
    const machine = { Hostname: 'kitchen', OS: 'linux', Arch: 'amd64', Version: '1' }
    await theirs.put('healthcheck', theirs.self, heartbeatValue(now)).settled
    for (const address of own) {
      await theirs.put('machines', address, machineText(theirs.self, address, { own, machine })).settled
    }
    const ours = createLedger({}, { signer: createSigner(new Uint8Array(32).fill(2)) })
    ours.merge(theirs.snapshot().entries(), undefined)
    const addresses = [given('10.1.0.11/24'), given('10.1.0.12/24')]
    const [error, ...more] = checkNotTaken(addresses, ours, now)
    expect(more).toEqual([])
    expect(error).toMatchObject({
      code: 'vpn.address_taken',
      details: { peer: theirs.self, hostname: 'kitchen' },
    })
    expect(error?.message).toBe(`10.1.0.11 belongs to kitchen (${theirs.self.slice(-8)})`)
    expect(checkNotTaken(addresses, theirs, now)).toEqual([])
    expect(checkNotTaken(addresses, ours, now + 500_000)).toEqual([])
    expect(JSON.parse(ours.snapshot().getLive('machines', 'fd00::11')?.value ?? '').Address).toBe('10.1.0.11')
    await Promise.all([theirs.stop(), ours.stop()])
  })
})
