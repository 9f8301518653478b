import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { withUdpPort } from './free-udp-port.ts'

async function bind(port: number): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.bind({ address: '127.0.0.1', port, exclusive: true })
  await once(socket, 'listening')
  return socket
}

test('in place of port 0 stands one that can be bound', async () => {
  const given = (await withUdpPort(multiaddr('/ip4/127.0.0.1/udp/0/webrtc-direct'))).toString()
  const port = Number(/^\/ip4\/127\.0\.0\.1\/udp\/(\d+)\/webrtc-direct$/.exec(given)?.[1])
  const socket = await bind(port)
  expect(socket.address().port).toBe(port)
  socket.close()
})

test('a port that is taken is refused, and stays when it is not', async () => {
  const socket = await bind(0)
  const address = multiaddr(`/ip4/127.0.0.1/udp/${socket.address().port}/webrtc-direct`)
  await expect(withUdpPort(address)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  socket.close()
  expect((await withUdpPort(address)).toString()).toBe(address.toString())
})
