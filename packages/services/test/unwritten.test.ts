import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePeerId, type PeerId } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import {
  FULL_CHUNK_BYTES,
  LEAST_PIECE_BYTES,
  LOCAL_UNWRITTEN_BYTES,
  SOCKET_BUFFER_BYTES,
} from '../src/limits.ts'
import { splice } from '../src/streams/splice.ts'
import { SocketWriter } from '../src/streams/unwritten.ts'
import { encodeFrame } from '../src/streams/frames.ts'
import { encodeAnswer } from '../src/wire/messages.ts'
import { createStreamPair } from './stream-pair.ts'
import { createWorld } from './world.ts'

const KIB = 1024
const SELF = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const HONEST = parsePeerId('12D3KooWC4T1AXU2s2YBgGJ2FeaYVtsKoHZWJeubnWe9SnuSE7Zb')
const OTHER = parsePeerId('12D3KooWHUf9xhBJrXsVEHzvb1nzHRTpZ1pPLqiKoQuEbAPhRhHr')

/** A target that takes connections and reads nothing; a unix socket, for which the system keeps little. */
async function openDeaf(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-unwritten-'))
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
  const path = join(folder, 'deaf.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  return path
}

test('what waits for targets that do not read is bounded in all, and who has little goes on', async () => {
  const path = await openDeaf()
  const unwritten = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const ended: PeerId[] = []
  const fill = (peer: PeerId, bytes: number) => {
    const socket = connect({ path, allowHalfOpen: true })
    const { near, far } = createStreamPair(SELF, peer)
    const shared = { unwritten, address: peer === HONEST ? '192.0.2.1' : '192.0.2.66' }
    splice(socket, near, {
      traffic: { bytesIn: 0, bytesOut: 0 },
      shared,
      onDone: () => ended.push(peer),
    })
    for (let sent = 0; sent < bytes; sent += 64 * KIB) far.send(new Uint8Array(64 * KIB))
    onTestFinished(() => void socket.destroy())
  }
  fill(HONEST, 448 * KIB)
  await eventually(() => expect(unwritten.total).toBeGreaterThan(128 * KIB))
  for (let at = 0; at < 12; at++) fill(OTHER, 512 * KIB)
  await eventually(() => expect(ended.length).toBeGreaterThan(4))
  expect(ended).not.toContain(HONEST)
  expect(unwritten.total).toBeLessThanOrEqual(1_024 * KIB)
})

test('pieces of one byte that wait for a socket count for what they take', async () => {
  const unwritten = new Scope({ all: 64 * 1_024 * KIB, evict: 'largest' })
  const socket = connect({ path: await openDeaf(), allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  const { near, far } = createStreamPair(SELF, OTHER)
  const shared = { unwritten, address: '192.0.2.66' }
  const traffic = { bytesIn: 0, bytesOut: 0 }
  splice(socket, near, { traffic, shared, onDone() {} })
  const filling = 1_024 * KIB
  for (let sent = 0; sent < filling; sent += 64 * KIB) far.send(new Uint8Array(64 * KIB))
  await eventually(() => expect(unwritten.total).toBeGreaterThan(0))
  const before = traffic.bytesIn
  socket.cork()
  near.resume()
  const block = new Uint8Array(64 * KIB)
  for (let at = 0; at < 10_000; at++) far.send(block.subarray(at, at + 1))
  await eventually(() => expect(unwritten.total).toBeGreaterThan(SOCKET_BUFFER_BYTES))
  expect(traffic.bytesIn - before).toBeLessThan(filling + (2 * SOCKET_BUFFER_BYTES) / LEAST_PIECE_BYTES)
})

test('what waits for local clients that do not read is bounded in all', async () => {
  const world = createWorld()
  onTestFinished(() => world.close())
  const [provider, client] = [await world.member(), await world.member()]
  const folder = mkdtempSync(join(tmpdir(), 'mesh-unwritten-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'endless.sock')
  const record = JSON.stringify({ PeerID: provider.id, Name: 'endless' })
  await provider.ledger.put('services', 'endless', record).settled
  let accepted = 0
  await provider.network.streams.handle('/mesh/service/1', { ...OPTIONS }, (stream) => {
    accepted++
    stream.onBytes(() => {})
    stream.send(encodeFrame(encodeAnswer('ok')))
    for (let sent = 0; sent < 512 * KIB; sent += 64 * KIB) stream.send(new Uint8Array(64 * KIB))
  })
  await client.services({ connections: [{ name: 'endless', address: `unix:${path}` }] })
  const clients = 200
  for (let at = 0; at < clients; at++) {
    const socket = connect({ path }).on('error', () => {})
    onTestFinished(() => void socket.destroy())
  }
  const { local } = client.components.unwritten
  await eventually(() => expect(accepted).toBe(clients), { withinMs: 20_000 })
  await eventually(() => expect(local.total).toBeGreaterThan(1_024 * KIB))
  expect(local.total).toBeLessThanOrEqual(LOCAL_UNWRITTEN_BYTES.all)
})

const OPTIONS = { from: 'proven', relayed: true, halfClose: true, maxPerPeer: 1_000 } as const

test('a short part of a block that waits is copied, a full chunk only where much waits already', () => {
  const written: Uint8Array[] = []
  const socket = {
    destroyed: false,
    writableLength: 0,
    once: () => {},
    write: (bytes: Uint8Array) => written.push(bytes),
  }
  const shared = { unwritten: new Scope({ all: 1_024 * KIB }), address: '', peer: OTHER, end() {} }
  const writer = new SocketWriter(socket as unknown as Socket, shared)
  const block = new Uint8Array(64 * KIB)
  const isCopied = (byteLength: number, waitingBytes: number) => {
    socket.writableLength = waitingBytes
    writer.write(block.subarray(0, byteLength))
    return written.at(-1)?.buffer !== block.buffer
  }
  expect([isCopied(100, 0), isCopied(100, 1)]).toEqual([false, true])
  expect([
    isCopied(FULL_CHUNK_BYTES, SOCKET_BUFFER_BYTES),
    isCopied(FULL_CHUNK_BYTES, SOCKET_BUFFER_BYTES + 1),
  ]).toEqual([false, true])
  expect(isCopied(block.byteLength, SOCKET_BUFFER_BYTES + 1)).toBe(false)
})
