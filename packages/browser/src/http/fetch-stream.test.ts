import { MeshError, parsePeerId } from '@mesh/core'
import type { OpenedStream } from '@mesh/services/client'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { READ_AHEAD_BYTES } from '../limits.ts'
import { fetchStream } from './fetch-stream.ts'

const peer = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const NO_BYTES = new Uint8Array()
const bytesOf = (text: string) => Uint8Array.from(text, (sign) => sign.charCodeAt(0))

/** A service that answers with these pieces, and then ends its side unless it is told to break. */
function serve(pieces: readonly Uint8Array[], end: 'ends' | 'breaks' | 'stays' = 'ends') {
  let sent = ''
  const state = { isPaused: true, aborted: undefined as Error | undefined, isClosed: false, given: 0 }
  let onBytes = (_bytes: Uint8Array) => {}
  let onRemoteEnd = () => {}
  let onEnd = (_error: Error | undefined) => {}
  const waiting = [...pieces]
  const finish = () => {
    if (end === 'breaks') onEnd(new Error('reset'))
    if (end === 'ends') onRemoteEnd()
  }
  const flow = () => {
    while (!state.isPaused) {
      const piece = waiting.shift()
      if (piece === undefined) return finish()
      state.given += piece.length
      onBytes(piece)
    }
  }
  const stream: OpenedStream['stream'] = {
    peer,
    direct: false,
    send: (bytes) => {
      sent += new TextDecoder().decode(bytes)
      return true
    },
    onDrain: () => {},
    onBytes: (listener) => void (onBytes = listener),
    onEnd: (listener) => void (onEnd = listener),
    onRemoteEnd: (listener) => void (onRemoteEnd = listener),
    end: () => {},
    pause: () => void (state.isPaused = true),
    resume() {
      state.isPaused = false
      queueMicrotask(flow)
    },
    close: () => void (state.isClosed = true),
    abort(reason) {
      state.aborted = reason
      onEnd(reason)
    },
  }
  return { opened: { stream, rest: NO_BYTES }, state, sent: () => sent }
}

const get = (init?: RequestInit) => new Request('http://wiki.svc.mesh/a/b?c=d', init)
const answer = (text: string) => serve([bytesOf(text)])

test('the request is sent whole, and the answer comes back as of fetch', async () => {
  const served = answer(
    'HTTP/1.1 201 Made\r\nSet-Cookie: a=1\r\nset-cookie:b=2\r\ncontent-length: 5\r\n\r\nhello',
  )
  const response = await fetchStream(
    served.opened,
    get({ method: 'PUT', body: 'body', headers: { 'x-a': 'b' } }),
  )
  expect([response.status, response.statusText, await response.text()]).toEqual([201, 'Made', 'hello'])
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  const lines = served.sent().split('\r\n')
  expect(lines[0]).toBe('PUT /a/b?c=d HTTP/1.1')
  expect(lines).toEqual(
    expect.arrayContaining([
      'host: wiki.svc.mesh',
      'connection: close',
      'content-length: 4',
      'x-a: b',
      'body',
    ]),
  )
  expect(served.state.isClosed).toBe(true)
})

test.each([
  [
    'chunks',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\n, a member\r\n0\r\nx: y\r\n\r\n',
  ],
  ['until the end', 'HTTP/1.0 200\n\nhello, a member'],
  [
    'after interim answers',
    'HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\nhello, a member',
  ],
])('a body in %s is read, wherever it is cut', async (_name, text) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: text.length - 1 }), { maxLength: 8 }),
      async (cuts) => {
        const at = [0, ...new Set(cuts.toSorted((a, b) => a - b)), text.length]
        const pieces = at.slice(1).map((end, index) => bytesOf(text.slice(at[index], end)))
        const response = await fetchStream(serve(pieces).opened, get())
        expect(await response.text()).toBe('hello, a member')
      },
    ),
    { numRuns: 50 },
  )
})

test.each([
  [204, 'GET'],
  [304, 'GET'],
  [200, 'HEAD'],
])('%i to %s has no body', async (status, method) => {
  const served = answer(`HTTP/1.1 ${status} X\r\ncontent-length: 9\r\n\r\n`)
  const response = await fetchStream(served.opened, get({ method }))
  expect([response.status, await response.text(), served.state.isClosed]).toEqual([status, '', true])
})

test.each([
  ['nothing', ''],
  ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['a head that never ends', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`],
  ['too many headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`],
  ['a folded header', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['another encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\n\r\n'],
  ['interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)],
])('%s is an error with a code, and the stream ends', async (_name, text) => {
  const served = answer(text)
  await expect(fetchStream(served.opened, get())).rejects.toMatchObject({ code: 'services.broken' })
  expect(served.state.aborted).toBeInstanceOf(Error)
})

test.each([
  ['ends early', 'ended early', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello', 'ends'],
  ['breaks', 'reset', 'HTTP/1.1 200 OK\r\n\r\nhello', 'breaks'],
  [
    'has a chunk without a length',
    'no length',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nhello',
    'ends',
  ],
  [
    'has a chunk of another length',
    'too long',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n',
    'ends',
  ],
] as const)('a body that %s is no whole body', async (_name, message, text, end) => {
  const served = serve([bytesOf(text)], end)
  const response = await fetchStream(served.opened, get())
  await expect(response.text()).rejects.toThrow(message)
})

test('a slow reader slows the service down, and one that reads no more ends the stream', async () => {
  const piece = new Uint8Array(READ_AHEAD_BYTES)
  const head = bytesOf('HTTP/1.1 200 OK\r\n\r\n')
  const served = serve([head, ...Array.from({ length: 100 }, () => piece)])
  const response = await fetchStream(served.opened, get())
  const reader = response.body?.getReader()
  await reader?.read()
  await new Promise<void>((resolve) => setTimeout(resolve))
  expect(served.state.given).toBeLessThanOrEqual(head.length + 3 * READ_AHEAD_BYTES)
  await reader?.cancel()
  expect(served.state.isClosed).toBe(true)
})

test('the signal of the request ends it', async () => {
  const controller = new AbortController()
  const served = serve([bytesOf('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello')], 'stays')
  const response = await fetchStream(served.opened, get({ signal: controller.signal }))
  controller.abort(new Error('enough'))
  await expect(response.text()).rejects.toThrow('enough')
  expect(served.state.aborted).toBeInstanceOf(Error)
})

test('whatever bytes come, the answer is one or an error with a code', async () => {
  const parts = fc.constantFrom(
    'HTTP/1.1 200 OK',
    '\r\n',
    '\n',
    ': ',
    'content-length',
    'transfer-encoding',
    'chunked',
    '5',
    'ff',
    ';',
    '0',
  )
  const text = fc
    .array(fc.oneof(parts, fc.string({ maxLength: 5 })), { maxLength: 20 })
    .map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(text, async (said) => {
      const asked = fetchStream(serve([bytesOf(said)]).opened, get())
      const outcome = await asked.then(
        (response) => response.arrayBuffer().then(() => 'read', String),
        (error: unknown) => error instanceof MeshError && error.code,
      )
      expect(outcome).toMatch(/^read$|^Error: |^services\.broken$/)
    }),
    { numRuns: 300 },
  )
})
