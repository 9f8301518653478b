import { expect, test } from 'vitest'
import { createUdpOutbox } from './udp-outbox.ts'

function createRecordingSocket() {
  const sent: string[] = []
  const send = (answer: Uint8Array, _from: number, _length: number, port: number, address: string) =>
    sent.push(`${Buffer.from(answer).toString()} to ${address}:${port}`)
  return { sent, socket: { send } as never }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const bytes = (text: string) => Buffer.from(text)

test('the answers of one turn go out after it, in their order, and later ones as well', async () => {
  const { sent, socket } = createRecordingSocket()
  const outbox = createUdpOutbox(socket)
  outbox.send(bytes('a'), 1, '127.0.0.1')
  outbox.send(bytes('b'), 2, '::1')
  expect(sent).toEqual([])
  await turn()
  expect(sent).toEqual(['a to 127.0.0.1:1', 'b to ::1:2'])
  outbox.send(bytes('c'), 3, '127.0.0.1')
  await turn()
  expect(sent.slice(2)).toEqual(['c to 127.0.0.1:3'])
})

test('nothing is sent by a socket that is closed', async () => {
  const { sent, socket } = createRecordingSocket()
  const outbox = createUdpOutbox(socket)
  outbox.send(bytes('a'), 1, '127.0.0.1')
  outbox.stop()
  outbox.send(bytes('b'), 1, '127.0.0.1')
  await turn()
  expect(sent).toEqual([])
})
