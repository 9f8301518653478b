import { Socket } from 'node:net'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startLoopbackNode } from '../../test/loopback-node.ts'
import { freeSentBlocks } from './freed-blocks.ts'

const PROTOCOL = '/mesh/test/1'
const RULES = { from: 'proven', relayed: false } as const
const [BLOCK_BYTES, BLOCKS] = [65_536, 64]

test('what was encrypted is freed when it has gone out, what it was made of is left to who sent it, and all arrives whole', async () => {
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
  for (const block of blocks) stream.send(block)
  await eventually(() => expect(Buffer.concat(received).equals(all)).toBe(true))
  expect(blocks.filter(({ byteLength }) => byteLength !== BLOCK_BYTES)).toEqual([])
  const encrypted = written.filter(({ length }) => length >= BLOCK_BYTES / 2)
  expect(encrypted.length).toBeGreaterThanOrEqual(BLOCKS)
  await eventually(() => expect(encrypted.filter(({ bytes }) => bytes.byteLength > 0)).toEqual([]))
})

test('what is no encrypted connection over TCP is left alone', () => {
  const [encrypt, sendData] = [() => [], () => ({ sentBytes: 0, canSendMore: true })]
  const plain = { stream: { sendData, socket: { write: () => true } } }
  const elsewhere = { encrypt, stream: { sendData } }
  for (const layer of [plain, elsewhere]) freeSentBlocks(layer)
  expect(plain.stream.sendData).toBe(sendData)
  expect(elsewhere.stream.sendData).toBe(sendData)
})

test('a block that is a part of other memory, or short, is left to the collector', async () => {
  const memory = new Uint8Array(BLOCK_BYTES)
  const parts = [memory.subarray(1), memory.subarray(0, 40_000), new Uint8Array(4_095)]
  const socket = { write: (_bytes: Uint8Array, written?: () => void) => (written?.(), true) }
  const stream = {
    socket,
    sendData: (_blocks: readonly Uint8Array[]) => ({ sentBytes: 0, canSendMore: true }),
  }
  const layer = { stream, encrypt: (blocks: readonly Uint8Array[]) => blocks }
  freeSentBlocks(layer)
  stream.sendData(layer.encrypt(parts))
  expect(parts.map(({ byteLength }) => byteLength)).toEqual([BLOCK_BYTES - 1, 40_000, 4_095])
  stream.sendData(layer.encrypt([memory]))
  expect(memory.byteLength).toBe(0)
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
