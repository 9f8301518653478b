/** What services are tested with: servers on loopback that echo, hash or answer HTTP, and clients of them. */
import { createHash, randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { eventually } from '@mesh/testkit'
import type { NodeProcess } from './harness.ts'

export interface Target {
  readonly port: number
  /** Connections so far. */
  readonly connections: () => number
  close(): Promise<void>
}

type Place = number | { readonly path: string }

function listen(server: Server, place: Place = 0): Promise<Target> {
  const open = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const ready = () => {
      const address = server.address()
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : 0,
        connections: () => connections,
        close: () =>
          new Promise((done) => {
            server.close(() => done())
            for (const socket of open) socket.destroy()
          }),
      })
    }
    if (typeof place === 'number') server.listen(place, '127.0.0.1', ready)
    else server.listen(place, ready)
  })
}

/** Sends back what comes; ends when the client ends. */
export function startEcho(place?: Place): Promise<Target> {
  return listen(
    createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)),
    place,
  )
}

/** Says nothing until the client ended its direction; then the hash of what it sent. */
export function startHasher(): Promise<Target> {
  return listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      const hash = createHash('sha256')
      socket.on('data', (bytes) => hash.update(bytes))
      socket.on('end', () => socket.end(hash.digest('hex')))
    }),
  )
}

/** Speaks first, as SSH does, and resets who says 'reset'. */
export function startBanner(): Promise<Target> {
  return listen(
    createServer((socket) => {
      socket.write('SSH-2.0-test\r\n')
      socket.on('data', (bytes) => {
        if (bytes.toString().startsWith('reset')) socket.resetAndDestroy()
      })
    }),
  )
}

/** Takes connections and reads nothing of them. */
export function startHung(): Promise<Target> {
  return listen(createServer({ pauseOnConnect: true }))
}

/** `/big` is 1 MiB; all else answers method, path and headers as JSON. */
export function startHttp(place?: Place): Promise<Target> {
  const big = Buffer.alloc(2 ** 20, 'x')
  return listen(
    createHttpServer((request, response) => {
      if (request.url === '/big') return void response.end(big)
      void text(request).then((body) => {
        const { method, url: path, headers } = request
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ method, path, headers, body }))
      })
    }),
    place,
  )
}

export function startUdpEcho(): Promise<Target> {
  const socket = createSocket('udp4')
  let connections = 0
  socket.on('message', (message, { port, address }) => {
    connections++
    socket.send(message, port, address)
  })
  return new Promise((resolve) => {
    socket.bind(0, '127.0.0.1', () =>
      resolve({
        port: socket.address().port,
        connections: () => connections,
        close: () => new Promise((done) => socket.close(() => done())),
      }),
    )
  })
}

/** Sends what has a known end, as EdgeVPN cuts both directions when one ends. */
export async function echoes(port: number, bytes: number): Promise<void> {
  const sent = randomBytes(bytes)
  const hash = createHash('sha256')
  let count = 0
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.setTimeout(10_000, () => socket.destroy(new Error('nothing came')))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${count} bytes`)))
    socket.on('data', (chunk) => {
      hash.update(chunk)
      count += chunk.length
      if (count < bytes) return
      resolve()
      socket.destroy()
    })
    socket.write(sent)
  })
  const expected = createHash('sha256').update(sent).digest('hex')
  if (hash.digest('hex') !== expected) throw new Error('what came back differs')
}

/** Sends, ends its direction, and reads to the end. */
export function exchange(place: Place, sent: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...(typeof place === 'number' ? { host: '127.0.0.1', port: place } : place),
      allowHalfOpen: true,
    })
    const got: Buffer[] = []
    socket.on('error', reject)
    socket.on('data', (bytes) => got.push(bytes))
    socket.on('end', () => resolve(Buffer.concat(got)))
    socket.end(sent)
  })
}

/** Sends datagrams until one comes back, as clients of UDP do. */
export function exchangeDatagram(port: number, sent: Uint8Array, everyMs = 500): Promise<Buffer> {
  const socket = createSocket('udp4')
  return new Promise<Buffer>((resolve, reject) => {
    let tries = 0
    const send = () => {
      if (++tries > 20) return reject(new Error('no datagram came back'))
      return socket.send(sent, port, '127.0.0.1')
    }
    const timer = setInterval(send, everyMs)
    socket.once('message', (message) => {
      clearInterval(timer)
      resolve(message)
    })
    send()
  }).finally(() => socket.close())
}

/** 16 KiB of their own for each of many clients. */
export const distinct = (): Buffer => randomBytes(16_384)

/** Where a connection to the service listens, as the node's log says it. */
export async function portOf(node: NodeProcess, name: string): Promise<number> {
  const line = await eventually(() => {
    const found = node.lines.find((each) => each.message === 'service reached' && each['name'] === name)
    if (found === undefined) throw new Error(`no connection to ${name} listens yet`)
    return found
  })
  return Number(/:(\d+)$/.exec(String(line['listen']))?.[1])
}

export async function proxyOf(node: NodeProcess): Promise<string> {
  return String((await node.waitForLine('proxy listening'))['listen'])
}
