import { tryParsePeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_HELD_BYTES_PER_PEER } from '../libp2p/limits.ts'
import { HeldBytes } from '../libp2p/held-bytes.ts'
import type { ByteStream } from '../p2p-node.ts'
import { createByteChannel } from './byte-channel.ts'

const peer = tryParsePeerId('12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X')
if (peer === undefined) throw new Error('no peer id')

const MIB = 1024 * 1024

/** The length of a message of 30 MiB as it stands before it. */
const PREFIX = Uint8Array.from([0x80, 0x80, 0x80, 0x0f])

/** A stream on which bytes come when they are said to, and nothing else happens. */
function createStream() {
  let listener = (_bytes: Uint8Array): void => {}
  let aborted: Error | undefined
  let onEnd = (_error: Error): void => {}
  const stream = {
    peer,
    direct: true,
    address: '192.0.2.1',
    onBytes: (given: typeof listener) => (listener = given),
    onDrain() {},
    onRemoteEnd() {},
    onEnd: (given: typeof onEnd) => (onEnd = given),
    pause() {},
    resume() {},
    abort(reason: Error) {
      aborted = reason
      onEnd(reason)
    },
  } as unknown as ByteStream
  return { stream, come: (bytes: Uint8Array) => listener(bytes), aborted: () => aborted }
}

test('an unfinished message that holds too much ends its channel', async () => {
  const clock = createManualClock()
  const held = new HeldBytes({ isMember: () => true, maxFrameBytes: 0 })
  const { stream, come, aborted } = createStream()
  const channel = createByteChannel({ stream, maxMessageBytes: 64 * MIB, clock, held, onTooLong() {} })
  const messages = channel.messages()[Symbol.asyncIterator]()
  const failed = messages.next().catch((error: unknown) => String(error))
  come(PREFIX)
  for (let at = 0; at < MAX_HELD_BYTES_PER_PEER / MIB; at++) {
    come(new Uint8Array(MIB))
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await failed).toContain('the channel is closed')
  expect(aborted()?.message).toBe('unfinished frames hold too much')
  expect(held.bytes).toBe(0)
})

test('of messages that came together so many are handed on in a turn as it has time for', async () => {
  const held = new HeldBytes({ isMember: () => true, maxFrameBytes: 0 })
  let now = 0
  const due: (() => void)[] = []
  const clock = {
    now: () => now,
    monotonic: () => now,
    after(_ms: number, work: () => void) {
      due.push(work)
      return () => {}
    },
  }
  const { stream, come } = createStream()
  const init = { stream, maxMessageBytes: MIB, clock, held, onTooLong() {} }
  const channel = createByteChannel(init)
  let handled = 0
  const handleAll = async () => {
    for await (const _ of channel.messages()) {
      handled++
      now += 4
    }
  }
  void handleAll()
  come(new Uint8Array(100))
  const turn = async () => {
    for (const work of due.splice(0)) work()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await turn()
  expect(handled).toBeLessThan(6)
  for (let count = 0; handled < 100 && count < 200; count++) await turn()
  expect(handled).toBe(100)
})
