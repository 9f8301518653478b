import type { Stream } from '@libp2p/interface'
import { expect, test } from 'vitest'
import { MUCH_UNSENT_BYTES } from '../limits.ts'
import { ByteWriter } from './byte-writer.ts'

const KIB = 1024

/** A stream of libp2p that keeps what it is given until `goOut`. */
class FakeStream extends EventTarget {
  writeBufferLength = 0
  writableNeedsDrain = false

  send(bytes: Uint8Array): boolean {
    this.writeBufferLength += bytes.byteLength
    return false
  }

  async goOut(bytes: number): Promise<void> {
    this.writeBufferLength -= bytes
    this.dispatchEvent(new Event(this.writeBufferLength === 0 ? 'idle' : 'drain'))
    await Promise.resolve()
  }
}

function open(unsent: { bytes: number }) {
  const stream = new FakeStream()
  const writer = new ByteWriter(stream as unknown as Stream, unsent)
  const told = { count: 0 }
  writer.onDrain(() => told.count++)
  return { stream, writer, told }
}

test('a stream with little to send is asked for more', async () => {
  const { stream, writer, told } = open({ bytes: 0 })
  writer.send(new Uint8Array(128 * KIB))
  await stream.goOut(32 * KIB)
  expect(told.count).toBe(0)
  await stream.goOut(64 * KIB)
  expect(told.count).toBe(1)
})

test('where much waits on all streams each is asked for more only when all of its own went out', async () => {
  const unsent = { bytes: 0 }
  const others = open(unsent)
  others.writer.send(new Uint8Array(MUCH_UNSENT_BYTES + 1))
  const { stream, writer, told } = open(unsent)
  writer.send(new Uint8Array(64 * KIB))
  await stream.goOut(60 * KIB)
  expect(told.count).toBe(0)
  await stream.goOut(4 * KIB)
  expect(told.count).toBe(1)
  expect(unsent.bytes).toBe(MUCH_UNSENT_BYTES + 1)
})

test('what waits on a stream that is over does not count', () => {
  const unsent = { bytes: 0 }
  const { writer } = open(unsent)
  writer.send(new Uint8Array(64 * KIB))
  expect(unsent.bytes).toBe(64 * KIB)
  writer.stop()
  writer.stop()
  expect(unsent.bytes).toBe(0)
})
