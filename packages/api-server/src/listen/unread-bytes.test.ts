import { type AddressInfo, connect, type Socket } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_UNREAD_BYTES } from '../limits.ts'
import { createHttpServer } from './http-server.ts'

const HEAD_BYTES = 600 * 1024

async function listen() {
  const server = createHttpServer(
    (req, res) => {
      let bytes = 0
      req
        .on('data', (part: Uint8Array) => (bytes += part.length))
        .on('end', () => {
          if (req.url !== '/later') res.end(`had ${bytes}`)
        })
    },
    { clock: systemClock, random: systemRandom },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function open(port: number, bytes: string): { readonly socket: Socket; got: string; isOver: boolean } {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const end = { socket, got: '', isOver: false }
  socket.on('error', () => {})
  socket.on('close', () => (end.isOver = true))
  socket.setEncoding('latin1').on('data', (text: string) => (end.got += text))
  socket.write(bytes)
  return end
}

test('connections whose heads never end hold no more than a bound together, and others are answered', async () => {
  const port = await listen()
  const beginnings = Array.from({ length: 60 }, () =>
    open(port, `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'h'.repeat(HEAD_BYTES)}`),
  )
  const short = open(port, 'PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf ')
  const isOpen = () => beginnings.filter(({ isOver }) => !isOver)
  await eventually(() => expect(isOpen().length * HEAD_BYTES).toBeLessThanOrEqual(MAX_UNREAD_BYTES))
  expect(isOpen().length).toBeGreaterThan(1)
  short.socket.write('of it')
  await eventually(() => expect(short.got).toContain('had 10'))
  expect(short.isOver).toBe(false)
})

test('requests that were read in whole and wait for their answer hold no more than that either', async () => {
  const port = await listen()
  const put = `PUT /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${HEAD_BYTES}\r\n\r\n`
  const waiting = Array.from({ length: 60 }, () => open(port, put + 'b'.repeat(HEAD_BYTES)))
  const isOpen = () => waiting.filter(({ isOver }) => !isOver)
  await eventually(() => expect(isOpen().length * HEAD_BYTES).toBeLessThanOrEqual(MAX_UNREAD_BYTES))
  expect(isOpen().length).toBeGreaterThan(1)
})

test('a connection that goes on sending whole requests is not ended', async () => {
  const port = await listen()
  const body = 'b'.repeat(100 * 1024)
  const put = `PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const rounds = Math.ceil((2 * MAX_UNREAD_BYTES) / body.length)
  const { socket, ...end } = open(port, '')
  let answers = 0
  socket.on('data', (text: string) => {
    answers += text.split(`had ${body.length}`).length - 1
    if (answers < rounds) socket.write(put)
  })
  socket.write(put)
  await eventually(() => expect(answers).toBeGreaterThanOrEqual(rounds), { withinMs: 20_000 })
  expect(end.isOver).toBe(false)
})
