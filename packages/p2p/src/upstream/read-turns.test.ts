import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { READ_TURN_MS } from '../limits.ts'
import { ReadTurns } from './read-turns.ts'

const SENDERS = 6
const BYTES = 2 * 1024 * 1024
/** What each block costs, by the clock of the test. */
const BLOCK_MS = 3

test('sockets share the time of a turn, and nothing of what they carry is lost or out of order', async () => {
  let now = 0
  const turns = new ReadTurns({ monotonic: () => now })
  const got: Buffer[][] = []
  let [blocks, mostBlocks] = [0, 0]
  const server = createServer((socket) => {
    const own: Buffer[] = []
    got.push(own)
    socket.on('data', (bytes) => {
      own.push(bytes)
      now += BLOCK_MS
      blocks++
    })
    turns.watch(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const payload = Buffer.from(Array.from({ length: BYTES }, (_, at) => (at * 31) % 251))
  const senders = Array.from({ length: SENDERS }, (): Socket => connect(port, '127.0.0.1'))
  for (const sender of senders) sender.end(payload)
  const isDone = () => got.length === SENDERS && got.every((own) => sizeOf(own) === BYTES)
  for (let turn = 0; !isDone() && turn < 100_000; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    mostBlocks = Math.max(mostBlocks, blocks)
    blocks = 0
  }
  expect(got.map((own) => Buffer.concat(own).equals(payload))).toEqual(Array.from(senders, () => true))
  expect(mostBlocks).toBeGreaterThan(0)
  expect(mostBlocks).toBeLessThanOrEqual(Math.ceil(READ_TURN_MS / BLOCK_MS))
  for (const sender of senders) sender.destroy()
  await new Promise((resolve) => server.close(resolve))
})

test('a socket that its reader paused stays paused, and one that closed is forgotten', async () => {
  let now = 0
  const turns = new ReadTurns({ monotonic: () => (now += READ_TURN_MS) })
  let accepted: Socket | undefined
  const server = createServer((socket) => {
    accepted = socket
    turns.watch(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const sender = connect(port, '127.0.0.1')
  await new Promise((resolve) => server.once('connection', resolve))
  const heard: string[] = []
  accepted?.on('data', (bytes) => {
    heard.push(bytes.toString())
    accepted?.pause()
  })
  sender.write('first')
  await until(() => heard.length === 1)
  sender.write('second')
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(heard).toEqual(['first'])
  accepted?.resume()
  await until(() => heard.length === 2)
  sender.destroy()
  await new Promise((resolve) => accepted?.once('close', resolve))
  expect(heard).toEqual(['first', 'second'])
  await new Promise((resolve) => server.close(resolve))
})

const sizeOf = (buffers: readonly Buffer[]) => buffers.reduce((sum, { length }) => sum + length, 0)

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
