import { EventEmitter } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { parsePeerId, silentLogger, systemClock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { expect, test } from 'vitest'
import { createRefusals } from '../refusals.ts'
import { MUCH_UNSENT_BYTES } from '../limits.ts'
import { Acceptor } from './acceptor.ts'
import { BulkConnection } from './bulk-connection.ts'
import { encodeHeader, encodeShortFrame, FRAME } from './frames.ts'
import { ACCEPTED, MAX_OPENED_PER_PEER } from './limits.ts'

const KIB = 1024
const PEERS = [
  '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
  '12D3KooWC4T1AXU2s2YBgGJ2FeaYVtsKoHZWJeubnWe9SnuSE7Zb',
  '12D3KooWHUf9xhBJrXsVEHzvb1nzHRTpZ1pPLqiKoQuEbAPhRhHr',
].map((text) => parsePeerId(text))
const PEER = PEERS[0] ?? parsePeerId('')
const METER = { add() {} }

/** A socket that keeps what is written to it. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string
  readableLength = 0
  writableLength = 0
  destroyed = false
  writable = true
  #isPaused = false
  constructor(remoteAddress = '192.0.2.1') {
    super()
    this.remoteAddress = remoteAddress
  }
  write(bytes: Uint8Array): boolean {
    this.writableLength += bytes.byteLength
    return false
  }
  pause() {
    this.#isPaused = true
  }
  resume() {
    this.#isPaused = false
  }
  isPaused() {
    return this.#isPaused
  }
  destroy() {
    this.destroyed = true
  }
  cork() {}
  uncork() {}
  setNoDelay() {}
  setKeepAlive() {}
}

function build({ unread = new Scope({ all: 1_024 * KIB, evict: 'largest' }), unsent = { bytes: 0 } } = {}) {
  const socket = new FakeSocket()
  const connection: BulkConnection = new BulkConnection({
    socket: socket as unknown as TLSSocket,
    peer: PEER,
    isOpener: false,
    clock: systemClock,
    unread,
    unsent,
    onOpen: () => connection.begin({ halfClose: true, meter: METER }) !== undefined,
    onIdle: () => {},
    onClosed: () => {},
  })
  return { socket, connection, unread, unsent }
}

test('what waits on a connection whose stream takes nothing counts among what nobody reads, and has its bound', () => {
  const { socket, unread } = build({ unread: new Scope({ all: 100 * KIB, evict: 'largest' }) })
  socket.emit('data', encodeShortFrame(FRAME.open, Buffer.from('/mesh/test/1')))
  const block = Buffer.concat([encodeHeader(FRAME.data, 60 * KIB), Buffer.alloc(60 * KIB)])
  socket.emit('data', block)
  expect(socket.isPaused()).toBe(true)
  expect(unread.total).toBe(60 * KIB)
  // Node reads on until its own buffer is full
  socket.readableLength = 64 * KIB
  socket.emit('data', block)
  expect(socket.destroyed).toBe(true)
  expect(unread.total).toBe(0)
})

test('where much waits to go out elsewhere, a connection takes one block and no more', () => {
  const unsent = { bytes: 0 }
  const alone = build({ unsent })
  const stream = alone.connection.begin({ halfClose: true, meter: METER })
  expect(stream.send(new Uint8Array(64 * KIB))).toBe(true)
  expect(unsent.bytes).toBeGreaterThan(64 * KIB)
  unsent.bytes += MUCH_UNSENT_BYTES
  const other = build({ unsent })
  const further = other.connection.begin({ halfClose: true, meter: METER })
  expect(further.send(new Uint8Array(64 * KIB))).toBe(false)
  for (const { connection } of [alone, other]) connection.close()
  expect(unsent.bytes).toBe(MUCH_UNSENT_BYTES)
})

test('connections are taken up to a number of each peer, of each address and of all', () => {
  const acceptor = new Acceptor({
    bandwidth: { meter: () => METER } as never,
    refusals: createRefusals({ clock: systemClock, emit: () => {} }),
    unread: new Scope({ all: 0, evict: 'largest' }),
    unsent: { bytes: 0 },
    clock: systemClock,
    log: silentLogger,
  })
  const comeFrom = (peer: number, address: string) => {
    let taken = 0
    for (; taken < ACCEPTED.all; taken++) {
      const socket = new FakeSocket(address)
      acceptor.accept(PEERS[peer] ?? PEER, socket as unknown as TLSSocket)
      if (socket.destroyed) break
    }
    return taken
  }
  expect(comeFrom(0, '192.0.2.1')).toBe(ACCEPTED.perPeer)
  expect(comeFrom(1, '192.0.2.1')).toBe(ACCEPTED.perAddress - ACCEPTED.perPeer)
  expect(comeFrom(2, '192.0.2.2')).toBe(ACCEPTED.all - ACCEPTED.perAddress)
  acceptor.closeWhere(() => true)
  expect(acceptor.reserve(PEER, '192.0.2.1')).toBeDefined()
})

test('OpenSSL has 20 MB of memory for one address, and 30 MB in all; nobody opens more than a peer takes', () => {
  const connectionBytes = 115_000
  expect(ACCEPTED.perAddress * connectionBytes).toBeLessThan(20e6)
  expect(ACCEPTED.all * connectionBytes).toBeLessThan(30e6)
  expect(MAX_OPENED_PER_PEER).toBeLessThanOrEqual(ACCEPTED.perPeer)
})
