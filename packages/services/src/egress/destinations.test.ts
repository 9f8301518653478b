import { parseCidr } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import type { RequestRefused } from '../wire/accept.ts'
import { createDestinations } from './destinations.ts'

const names: Readonly<Record<string, readonly string[]>> = {
  'example.org': ['93.184.216.34', '2606:2800:220:1::1'],
  'rebind.example': ['127.0.0.1', '93.184.216.34'],
  'inside.example': ['10.0.0.5', 'fd00::5'],
  'empty.example': [],
}
const clock = createManualClock()
const ownAddresses = () => ['203.0.114.7', '2001:470::7']
const resolveName = async (name: string) => names[name] ?? []
const destinations = createDestinations({ allow: [], ownAddresses, resolveName, clock })

const asker = { asker: '192.0.2.7', signal: new AbortController().signal }

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: RequestRefused) => error.code,
  )

describe('where members may go', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'fd12::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::a00:1',
    '2002:7f00:1::1',
    '::127.0.0.1',
    '::a00:1',
    '64:ff9b:1::a00:1',
    'fec0::1',
    '5f00::1',
    '2001:db8::1',
    '203.0.114.7',
    '2001:470::7',
  ])('%s is not served', async (address) => {
    expect(await codeOf(destinations.resolve(address, asker))).toBe('forbidden')
  })

  test.each(['1.1.1.1', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'])(
    '%s is',
    async (address) => {
      expect(await codeOf(destinations.resolve(address, asker))).toBe('ok')
    },
  )

  test('of a name only the addresses that are served, so that the one that was checked is dialled', async () => {
    expect(await destinations.resolve('example.org', asker)).toEqual(names['example.org'])
    expect(await destinations.resolve('rebind.example', asker)).toEqual(['93.184.216.34'])
    expect(await codeOf(destinations.resolve('inside.example', asker))).toBe('forbidden')
    expect(await codeOf(destinations.resolve('empty.example', asker))).toBe('target_down')
    expect(await codeOf(destinations.resolve('x'.repeat(300), asker))).toBe('bad_request')
  })

  test('what the person allows is served, and nothing beside it', async () => {
    const allow = [parseCidr('127.0.0.0/8'), parseCidr('203.0.114.7/32')]
    const allowing = createDestinations({ allow, ownAddresses, resolveName, clock })
    expect(await allowing.resolve('127.0.0.1', asker)).toEqual(['127.0.0.1'])
    expect(await allowing.resolve('203.0.114.7', asker)).toEqual(['203.0.114.7'])
    expect(await codeOf(allowing.resolve('::1', asker))).toBe('forbidden')
    expect(await codeOf(allowing.resolve('10.0.0.1', asker))).toBe('forbidden')
  })
})
