import { expect, test } from 'vitest'
import { parsePeerId } from './peer-id.ts'
import { parseProviderKey, providerKey, providerPrefix } from './provider-key.ts'

const peer = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')

test.each(['web', 'my db', 'a%20b', 'ä/ö', '192.168.7.0/24'])(
  'a key of %j is read as it was written',
  (name) => {
    const key = providerKey({ bucket: 'services', name, peer })
    expect(parseProviderKey(key)).toEqual({ bucket: 'services', name, peer })
    expect(key.startsWith(providerPrefix('services', name))).toBe(true)
  },
)

test('no name begins the keys of another one', () => {
  const key = providerKey({ bucket: 'services', name: 'web two', peer })
  expect(key.startsWith(providerPrefix('services', 'web'))).toBe(false)
})

test.each([
  '',
  'services',
  'services web',
  'services web nobody',
  `services %zz ${peer}`,
  `services %77eb ${peer}`,
])('what no provider writes is not read: %j', (key) => {
  expect(parseProviderKey(key)).toBeUndefined()
})
