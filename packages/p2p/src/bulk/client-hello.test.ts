import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { connect } from 'node:tls'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pskIdentityOf } from './client-hello.ts'
import { createTlsSettings } from './tls-settings.ts'

/** The first bytes that a real TLS client sends. */
async function helloOf(identity: string | undefined): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const psk = identity !== undefined && {
    pskCallback: () => ({ psk: Buffer.alloc(32), identity }),
    checkServerIdentity: () => undefined,
  }
  const client = connect({ host: '127.0.0.1', port: address.port, ...createTlsSettings(), ...psk })
  client.on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  socket.on('error', () => {})
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  server.close()
  return bytes
}

test('finds the identity that a real client names, and none where it names none', async () => {
  expect(pskIdentityOf(await helloOf('AAECAwQFBgcICQoLDA0ODw'))).toBe('AAECAwQFBgcICQoLDA0ODw')
  expect(pskIdentityOf(await helloOf(undefined))).toBeUndefined()
})

test('what is cut, or no TLS at all, names nobody', async () => {
  const hello = await helloOf('AAECAwQFBgcICQoLDA0ODw')
  for (const length of [0, 1, 5, 43, 100, hello.byteLength - 80]) {
    expect(pskIdentityOf(hello.subarray(0, length))).toBeUndefined()
  }
  expect(pskIdentityOf(Buffer.from('\x13/multistream/1.0.0\n'.padEnd(200)))).toBeUndefined()
})

test('whatever comes, reading does not throw', async () => {
  const hello = await helloOf('AAECAwQFBgcICQoLDA0ODw')
  const changes = fc.array(fc.tuple(fc.nat(hello.byteLength - 1), fc.nat(255)), { maxLength: 8 })
  fc.assert(
    fc.property(changes, (changed) => {
      const bytes = Buffer.from(hello)
      for (const [at, value] of changed) bytes[at] = value
      expect(() => pskIdentityOf(bytes)).not.toThrow()
    }),
  )
})
