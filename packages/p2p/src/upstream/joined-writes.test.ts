import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startLoopbackNode } from '../../test/loopback-node.ts'
import { joinWrites } from './joined-writes.ts'

test('what is sent in one turn goes out at once, in its order, also from what follows a promise', async () => {
  const calls: string[] = []
  const socket = new Writable({
    write(chunk: Buffer, _encoding, done) {
      calls.push(chunk.toString())
      done()
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => String(chunk)).join(''))
      done()
    },
  })
  const sendData = (data: readonly string[]) => data.every((piece) => socket.write(piece))
  const connection = { stream: { stream: { socket, sendData } } }
  joinWrites(connection)
  const { stream } = connection.stream
  expect(stream.sendData(['a', 'b'])).toBe(true)
  stream.sendData(['c'])
  await Promise.resolve()
  stream.sendData(['d'])
  await new Promise(setImmediate)
  stream.sendData(['e', 'f'])
  await new Promise(setImmediate)
  expect(calls).toEqual(['abcd', 'ef'])
})

test('what has no socket is left alone', () => {
  const sendData = () => true
  const connection = { stream: { sendData } }
  joinWrites(connection)
  expect(connection.stream.sendData).toBe(sendData)
})

test('no frame between members leaves in two writes', async () => {
  const network = generateNetworkConfig({}, systemRandom)
  const a = await startLoopbackNode({ network })
  onTestFinished(() => a.stop())
  const b = await startLoopbackNode({ network, bootstrapPeers: a.addresses() })
  onTestFinished(() => b.stop())
  await eventually(() => expect(a.peer(b.self)).toMatchObject({ connected: true, member: true }))
  const prototype = Socket.prototype as unknown as Record<'_write' | '_writev', (...args: unknown[]) => void>
  const single = vi.spyOn(prototype, '_write')
  const joined = vi.spyOn(prototype, '_writev')
  onTestFinished(() => {
    single.mockRestore()
    joined.mockRestore()
  })
  await a.ping(b.self)
  const lengths = single.mock.calls.map(([chunk]) => (chunk as Uint8Array).byteLength)
  expect(lengths.filter((length) => length <= 2)).toEqual([])
  expect(joined.mock.calls.length).toBeGreaterThan(0)
})
