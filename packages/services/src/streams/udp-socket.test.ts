import { expect, test } from 'vitest'
import { MAX_UDP_SEND_QUEUE } from '../limits.ts'
import { bindUdp, connectUdp, sendDatagram } from './udp-socket.ts'

test('datagrams without a byte do not wait without bound', async () => {
  const target = await bindUdp({ host: '127.0.0.1', port: 0 })
  const socket = await connectUdp({ host: '127.0.0.1', port: target.address().port })
  try {
    for (let sent = 0; sent < 10 * MAX_UDP_SEND_QUEUE; sent++) sendDatagram(socket, new Uint8Array())
    expect(socket.getSendQueueCount()).toBeLessThanOrEqual(MAX_UDP_SEND_QUEUE + 1)
  } finally {
    socket.close()
    target.close()
  }
})
