import { once } from 'node:events'
import { expect, test } from 'vitest'
import { HTTP_PIECE_BYTES } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import { StreamDuplex } from './stream-duplex.ts'

/** A stream that brings what it is told to. */
function createStream() {
  let isPaused = false
  const heard: { bytes?: (bytes: Uint8Array) => void; end?: () => void } = {}
  const stream = {
    pause: () => void (isPaused = true),
    resume: () => void (isPaused = false),
    onBytes: (take: (bytes: Uint8Array) => void) => void (heard.bytes = take),
    onRemoteEnd: (end: () => void) => void (heard.end = end),
    onDrain() {},
    onEnd() {},
    close() {},
    end() {},
  } as unknown as ByteStream
  return {
    stream,
    isPaused: () => isPaused,
    bring: (bytes: Uint8Array) => heard.bytes?.(bytes),
    end: () => heard.end?.(),
  }
}

/** Turns that have time for so many pieces each; `next` begins one. */
function createTurns(pieces: number) {
  let left = pieces
  const waiting: (() => void)[] = []
  return {
    isTimeLeft: () => left-- > 0,
    later: (_lane: string, work: () => void) => void waiting.push(work),
    next() {
      left = pieces
      for (const work of waiting.splice(0)) work()
    },
  }
}

test('what comes is parsed in pieces, as many in a turn as there is time for, and nothing is brought meanwhile', async () => {
  const [remote, turns] = [createStream(), createTurns(2)]
  const duplex = new StreamDuplex(remote.stream, { budget: turns })
  const read: number[] = []
  duplex.on('data', (piece: Buffer) => read.push(piece.byteLength))
  const ended = once(duplex, 'end')
  await new Promise((resolve) => setImmediate(resolve))
  remote.bring(new Uint8Array(5 * HTTP_PIECE_BYTES))
  expect(read).toEqual([HTTP_PIECE_BYTES, HTTP_PIECE_BYTES])
  expect(remote.isPaused()).toBe(true)
  remote.bring(new Uint8Array(7))
  expect(read).toHaveLength(2)
  turns.next()
  expect(read).toHaveLength(4)
  expect(remote.isPaused()).toBe(true)
  turns.next()
  expect(read.slice(4)).toEqual([HTTP_PIECE_BYTES, 7])
  expect(remote.isPaused()).toBe(false)
  remote.end()
  await ended
})

test('a stream that is held when its turn comes brings nothing until it is let go', async () => {
  const [remote, turns] = [createStream(), createTurns(1)]
  const duplex = new StreamDuplex(remote.stream, { budget: turns })
  const read: number[] = []
  duplex.on('data', (piece: Buffer) => read.push(piece.byteLength))
  await new Promise((resolve) => setImmediate(resolve))
  remote.bring(new Uint8Array(2 * HTTP_PIECE_BYTES))
  duplex.setHeld(true)
  turns.next()
  expect(read).toHaveLength(1)
  duplex.setHeld(false)
  expect(read).toHaveLength(2)
})

test('a stream that brings requests ends a piece with the head of one', async () => {
  const remote = createStream()
  const duplex = new StreamDuplex(remote.stream, { budget: createTurns(9), bringsRequests: true })
  const read: string[] = []
  duplex.on('data', (piece: Buffer) => {
    read.push(piece.toString())
    if (read.length === 2) duplex.setHeld(true)
  })
  await new Promise((resolve) => setImmediate(resolve))
  const head = (path: string) => `GET ${path} HTTP/1.1\r\n\r\n`
  remote.bring(Buffer.from(head('/a') + head('/b') + head('/c')))
  expect(read).toEqual([head('/a'), head('/b')])
  duplex.setHeld(false)
  expect(read).toEqual([head('/a'), head('/b'), head('/c')])
})
