import { type AddressInfo, createServer } from 'node:net'
import { parsePeerId, systemClock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { MUCH_UNWRITTEN_BYTES } from '../src/limits.ts'
import { dial } from '../src/streams/dial.ts'
import { splice } from '../src/streams/splice.ts'
import { createStreamPair } from './stream-pair.ts'

const SELF = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const OTHER = parsePeerId('12D3KooWHUf9xhBJrXsVEHzvb1nzHRTpZ1pPLqiKoQuEbAPhRhHr')
const ALONE = { unwritten: new Scope({ all: 2 * MUCH_UNWRITTEN_BYTES }), address: '' }
const GREETING = Buffer.alloc(256 * 1024, 'greeting ')

/** A target that says the same to anyone who connects, and ends. */
async function listen(): Promise<number> {
  const server = createServer((socket) => socket.end(GREETING).on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A target joined with a stream that so many bytes wait on; `read` takes what comes at its far end. */
async function join(port: number, waiting: number) {
  const { near, far } = createStreamPair(SELF, OTHER)
  const address = { host: '127.0.0.1', port }
  const socket = await dial({ address, withinMs: 10_000, clock: systemClock, isPaused: true })
  onTestFinished(() => void socket.destroy())
  near.send(new Uint8Array(waiting))
  splice(socket, near, { traffic: { bytesIn: 0, bytesOut: 0 }, shared: ALONE, onDone: () => {} })
  const state = { bytes: 0, isOver: false }
  const read = () => {
    far.onRemoteEnd(() => (state.isOver = true))
    far.onBytes(({ byteLength }) => (state.bytes += byteLength))
  }
  return { socket, state, read }
}

test('nothing of a target is read while its stream has no room, and all of it when it has', async () => {
  const port = await listen()
  const [full, free] = [await join(port, 1024 * 1024), await join(port, 0)]
  free.read()
  await eventually(() => expect(free.state).toEqual({ bytes: GREETING.length, isOver: true }))
  expect(full.socket.bytesRead).toBe(0)
  full.read()
  await eventually(() => expect(full.state).toEqual({ bytes: 1024 * 1024 + GREETING.length, isOver: true }))
})

test('a target whose stream ended while it had no room is closed', async () => {
  const { near, far } = createStreamPair(SELF, OTHER)
  const address = { host: '127.0.0.1', port: await listen() }
  const socket = await dial({ address, withinMs: 10_000, clock: systemClock, isPaused: true })
  near.send(new Uint8Array(1024 * 1024))
  let isDone = false
  splice(socket, near, { traffic: { bytesIn: 0, bytesOut: 0 }, shared: ALONE, onDone: () => (isDone = true) })
  far.abort(new Error('gone'))
  await eventually(() => expect([isDone, socket.destroyed]).toEqual([true, true]))
})

test('a target that goes on sending when its stream has ended is closed, with all that was sent to it', async () => {
  const received: Buffer[] = []
  const server = createServer({ allowHalfOpen: true }, (target) => {
    const send = () => {
      while (!target.destroyed && target.write(GREETING));
    }
    target.on('drain', send).on('error', () => {})
    target.on('data', (bytes) => received.push(bytes))
    send()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { near, far } = createStreamPair(SELF, OTHER)
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const socket = await dial({ address, withinMs: 10_000, clock: systemClock, isPaused: true })
  onTestFinished(() => void socket.destroy())
  let isDone = false
  splice(socket, near, { traffic: { bytesIn: 0, bytesOut: 0 }, shared: ALONE, onDone: () => (isDone = true) })
  far.send(GREETING)
  await eventually(() => expect(socket.bytesWritten).toBe(GREETING.length))
  near.close()
  await eventually(() => expect([isDone, socket.destroyed]).toEqual([true, true]))
  await eventually(() => expect(Buffer.concat(received).equals(GREETING)).toBe(true))
})

test('a stream that breaks just after the other side has ended its direction leaves no target open', async () => {
  let open = 0
  const server = createServer({ allowHalfOpen: true }, (target) => {
    open++
    const send = () => {
      while (!target.destroyed && target.write(GREETING));
    }
    target.on('drain', send).on('error', () => {})
    target.on('close', () => open--).resume()
    send()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  let done = 0
  // the end of a socket is on its way for a few turns of Node's own queue
  for (let turns = 0; turns < 6; turns++) {
    const { near, far } = createStreamPair(SELF, OTHER)
    const socket = await dial({ address, withinMs: 10_000, clock: systemClock, isPaused: true })
    splice(socket, near, { traffic: { bytesIn: 0, bytesOut: 0 }, shared: ALONE, onDone: () => done++ })
    far.onBytes(() => {})
    await eventually(() => expect(socket.bytesRead).toBeGreaterThan(0))
    far.end()
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => process.nextTick(resolve))
    far.abort(new Error('gone'))
  }
  await eventually(() => expect([done, open]).toEqual([6, 0]))
})

test('a stream goes on where much waits for other targets, and its own holds less than its mark', async () => {
  const got: number[] = []
  const server = createServer((socket) => socket.on('data', ({ length }) => got.push(length)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { near, far } = createStreamPair(SELF, OTHER)
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const socket = await dial({ address, withinMs: 10_000, clock: systemClock })
  onTestFinished(() => void socket.destroy())
  const unwritten = new Scope({ all: 2 * MUCH_UNWRITTEN_BYTES })
  unwritten.reserve({ size: MUCH_UNWRITTEN_BYTES + 1 })
  const shared = { unwritten, address: '' }
  splice(socket, near, { traffic: { bytesIn: 0, bytesOut: 0 }, shared, onDone: () => {} })
  const [chunks, chunkBytes] = [8, 16 * 1024]
  for (let sent = 0; sent < chunks; sent++) far.send(new Uint8Array(chunkBytes))
  await eventually(() => expect(got.reduce((sum, length) => sum + length, 0)).toBe(chunks * chunkBytes))
})
