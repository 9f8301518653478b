import { Socket } from 'node:net'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startLoopbackNode } from '../../test/loopback-node.ts'
import { isTransferred, transferBlock } from '../transferred-blocks.ts'
import { freeSentBlocks } from './freed-blocks.ts'

const PROTOCOL = '/mesh/test/1'
const RULES = { from: 'proven', relayed: false } as const
const [BLOCK_BYTES, BLOCKS] = [65_536, 64]

test('blocks are freed when they have gone out, what was handed over and what it was encrypted to, and arrive whole', async () => {
  const network = generateNetworkConfig({}, systemRandom)
  const a = await startLoopbackNode({ network })
  onTestFinished(() => a.stop())
  const b = await startLoopbackNode({ network, bootstrapPeers: a.addresses() })
  onTestFinished(() => b.stop())
  await eventually(() => expect(b.peer(a.self)).toMatchObject({ member: true }))
  const received: Buffer[] = []
  await a.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 1 }, (stream) =>
    stream.onBytes((bytes) => received.push(Buffer.from(bytes))),
  )
  const written = watchWrites()
  const stream = await b.streams.open(a.self, PROTOCOL, RULES)
  const blocks = Array.from({ length: BLOCKS }, () => systemRandom.bytes(BLOCK_BYTES))
  const all = Buffer.concat(blocks)
  for (const block of blocks) stream.send(block, true)
  await eventually(() => expect(Buffer.concat(received).equals(all)).toBe(true))
  await eventually(() => expect(blocks.filter(({ byteLength }) => byteLength > 0)).toEqual([]))
  const encrypted = written.filter(({ length }) => length >= BLOCK_BYTES / 2)
  expect(encrypted.length).toBeGreaterThanOrEqual(BLOCKS)
  await eventually(() => expect(encrypted.filter(({ bytes }) => bytes.byteLength > 0)).toEqual([]))
})

test('bytes that were not handed over are left to who sent them', async () => {
  const network = generateNetworkConfig({}, systemRandom)
  const a = await startLoopbackNode({ network })
  onTestFinished(() => a.stop())
  const b = await startLoopbackNode({ network, bootstrapPeers: a.addresses() })
  onTestFinished(() => b.stop())
  await eventually(() => expect(b.peer(a.self)).toMatchObject({ member: true }))
  let received = 0
  await a.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 1 }, (stream) =>
    stream.onBytes(({ byteLength }) => (received += byteLength)),
  )
  const stream = await b.streams.open(a.self, PROTOCOL, RULES)
  const block = systemRandom.bytes(BLOCK_BYTES)
  for (let at = 0; at < 4; at++) stream.send(block)
  await eventually(() => expect(received).toBe(4 * BLOCK_BYTES))
  expect(block.byteLength).toBe(BLOCK_BYTES)
})

test('a block that went out over a circuit is freed when the connection beneath has encrypted all of it', async () => {
  const encrypted = new Uint8Array(BLOCK_BYTES)
  const circuit = { encrypt: (_bytes: readonly Uint8Array[]) => [encrypted], stream: {} }
  const outer = { encrypt: (_bytes: readonly Uint8Array[]) => [], stream: {} }
  for (const layer of [circuit, outer]) freeSentBlocks(layer)
  circuit.encrypt([])
  outer.encrypt([encrypted.subarray(0, 60_000)])
  expect(encrypted.byteLength).toBe(BLOCK_BYTES)
  outer.encrypt([encrypted.subarray(60_000)])
  await Promise.resolve()
  expect(encrypted.byteLength).toBe(0)
})

test('what is no encrypted connection over TCP is left alone', () => {
  const [encrypt, sendData] = [() => [], () => ({ sentBytes: 0, canSendMore: true })]
  const plain = { stream: { sendData, socket: { write: () => true } } }
  const elsewhere = { encrypt, stream: { sendData } }
  for (const layer of [plain, elsewhere]) freeSentBlocks(layer)
  expect(plain.stream.sendData).toBe(sendData)
  expect(elsewhere.stream.sendData).toBe(sendData)
})

test('a block of which something else may use a part is left to the collector', () => {
  const memory = new Uint8Array(BLOCK_BYTES)
  for (const part of [memory.subarray(1), memory.subarray(0, 5_000), new Uint8Array(4_095)]) {
    transferBlock(part)
    expect(isTransferred(part)).toBe(false)
  }
})

/** The bytes that sockets write, with their length as they were written. */
function watchWrites() {
  const written: { readonly length: number; readonly bytes: Uint8Array }[] = []
  const note = (bytes: Uint8Array) => written.push({ length: bytes.byteLength, bytes })
  const prototype = Socket.prototype as unknown as Record<'_write' | '_writev', (...args: unknown[]) => void>
  const { _write: write, _writev: writev } = prototype
  vi.spyOn(prototype, '_write').mockImplementation(function (this: Socket, ...args) {
    note(args[0] as Uint8Array)
    write.apply(this, args)
  })
  vi.spyOn(prototype, '_writev').mockImplementation(function (this: Socket, ...args) {
    for (const { chunk } of args[0] as readonly { readonly chunk: Uint8Array }[]) note(chunk)
    writev.apply(this, args)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return written
}
