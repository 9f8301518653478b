/** The proxy and egress between members in one process: real sockets and ledgers, streams in memory. */
import { createServer, get, type IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { parseCidr, systemClock } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createEgress, createProxy, type Proxy } from '../src/index.ts'
import { EGRESS_AWAITED_MS, LOCAL_WAIT_MS, MAX_INTERIM_ANSWERS } from '../src/limits.ts'
import { createLegacyStreams } from '../src/legacy/open-legacy-stream.ts'
import { createEgressChoice } from '../src/proxy/choose-egress.ts'
import { openTunnel } from '../src/proxy/open-tunnel.ts'
import { createWorld, type Member } from './world.ts'

const closers: (() => unknown)[] = []
const proxies: Proxy[] = []
afterEach(async () => {
  proxies.length = 0
  for (const close of closers.splice(0).reverse()) await close()
})

function world() {
  const made = createWorld()
  closers.push(() => made.close())
  return made
}

async function startOrigin(): Promise<number> {
  const server = createServer((_request, response) => response.end('origin'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  return (server.address() as AddressInfo).port
}

async function offerEgress({ components }: Member): Promise<void> {
  const init = { allow: [parseCidr('127.0.0.0/8')] }
  const egress = createEgress(init, { ...components, ownAddresses: () => [] })
  closers.push(() => egress.stop())
  await egress.start()
}

async function startProxy({ components }: Member, egressPeer?: string): Promise<number> {
  const proxy = createProxy(
    { listen: '127.0.0.1:0', ...(egressPeer !== undefined && { egressPeer }) },
    components,
  )
  closers.push(() => proxy.stop())
  await proxy.start()
  proxies.push(proxy)
  return Number(/:(\d+)$/.exec(proxy.status().listen)?.[1])
}

function request(port: number, path: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      void text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    }).once('error', reject)
  })
}

/** Counts how often a member was asked to connect. */
function countConnects(member: Member): () => number {
  const { connect } = member.network
  let count = 0
  Object.assign(member.network, {
    connect(...args: Parameters<typeof connect>) {
      count++
      return connect(...args)
    },
  })
  return () => count
}

describe('the first request after the start of a proxy', () => {
  test('waits for the wanted egress node, which is known before it can be reached', async () => {
    const made = world()
    const [egress, other, client] = [await made.member(), await made.member(), await made.member()]
    await Promise.all([offerEgress(egress), offerEgress(other)])
    made.setReachable(egress, false)
    const connects = countConnects(client)
    const port = await startProxy(client, egress.id)
    const answer = request(port, `http://127.0.0.1:${await startOrigin()}/`)
    await eventually(() => expect(connects()).toBeGreaterThan(1))
    made.setReachable(egress, true)
    expect(await answer).toEqual({ status: 200, body: 'origin' })
  })

  test('waits for an egress node that nobody has heard of yet', async () => {
    const made = world()
    const [egress, client] = [await made.member(), await made.member()]
    const port = await startProxy(client)
    const answer = request(port, `http://127.0.0.1:${await startOrigin()}/`)
    await offerEgress(egress)
    expect(await answer).toEqual({ status: 200, body: 'origin' })
  })
})

describe('requests through a tunnel that is kept', () => {
  /** An origin that answers with these bytes, and what it was asked for. */
  async function startRaw(answer: (request: string, socket: Socket) => void) {
    const sockets = new Set<Socket>()
    const server = createTcpServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', (bytes) => answer(bytes.toString(), socket))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    return { port: (server.address() as AddressInfo).port, opened: () => sockets.size }
  }

  async function startBoth(): Promise<number> {
    const made = world()
    const [egress, client] = [await made.member(), await made.member()]
    await offerEgress(egress)
    return startProxy(client)
  }

  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\norigin'

  test('go through one connection to the origin', async () => {
    const port = await startBoth()
    const origin = await startRaw((_request, socket) => socket.write(OK))
    for (let at = 0; at < 3; at++) {
      expect(await request(port, `http://127.0.0.1:${origin.port}/`)).toEqual({ status: 200, body: 'origin' })
    }
    expect(origin.opened()).toBe(1)
    const { bytesIn, bytesOut } = (proxies[0] as Proxy).status()
    expect(bytesIn).toBe(3 * OK.length)
    expect(bytesOut).toBeGreaterThan(100)
  })

  test('are answered after the origin has ended the tunnel, at once or with the request', async () => {
    const port = await startBoth()
    let answered = 0
    const origin = await startRaw((_request, socket) => {
      answered++
      // the second one is answered on a connection of its own: what the origin ends here has served one
      if (answered === 1) socket.end(OK)
      else if (answered === 3) socket.destroy()
      else socket.write(OK)
    })
    for (let at = 0; at < 3; at++) {
      expect(await request(port, `http://127.0.0.1:${origin.port}/`)).toEqual({ status: 200, body: 'origin' })
    }
    expect([answered, origin.opened()]).toEqual([4, 3])
  })

  test('fields behind a body pass both ways, and hints come before the answer', async () => {
    const port = await startBoth()
    let asked = ''
    const answer = [
      'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n',
      '2\r\nhi\r\n0\r\nX-Sum: 42\r\nHost: other\r\n\r\n',
    ].join('')
    const origin = await startRaw((bytes, socket) => {
      asked += bytes
      if (asked.endsWith('X-Sent: 7\r\n\r\n')) socket.write(answer)
    })
    const socket = connect({ host: '127.0.0.1', port })
    closers.push(() => socket.destroy())
    let got = ''
    socket.on('data', (bytes: Buffer) => (got += bytes.toString()))
    socket.write(
      `POST http://127.0.0.1:${origin.port}/ HTTP/1.1\r\nHost: x\r\nTrailer: X-Sent\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sent: 7\r\n\r\n',
    )
    await eventually(() => expect(got).toMatch(/2\r\nhi\r\n0\r\nX-Sum: 42\r\n\r\n$/))
    expect(got).toMatch(
      /^HTTP\/1.1 103 Early Hints\r\nLink: <\/style.css>; rel=preload\r\n\r\nHTTP\/1.1 200 OK\r\n/,
    )
  })

  test('chunks of a byte to a client that does not read are few in memory, and arrive when it does', async () => {
    const port = await startBoth()
    const chunks = 400_000
    let received = 0
    const origin = await startRaw((_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.end(`${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`)
    })
    const pushed = vi.spyOn(ServerResponse.prototype, 'write')
    closers.push(() => pushed.mockRestore())
    const path = `http://127.0.0.1:${origin.port}/`
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, agent: false }, resolve).once('error', reject)
    })
    await eventually(() => expect(pushed.mock.calls.length).toBeGreaterThan(0))
    for await (const { length } of response as AsyncIterable<Buffer>) received += length
    expect(received).toBe(chunks)
    expect(pushed.mock.calls.length).toBeLessThan(chunks / 100)
  })

  test('interim answers without end are not passed on without end', async () => {
    const port = await startBoth()
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n'
    const origin = await startRaw((_request, socket) => socket.write(hint.repeat(1_000)))
    const socket = connect({ host: '127.0.0.1', port })
    closers.push(() => socket.destroy())
    let got = ''
    socket.on('data', (bytes: Buffer) => (got += bytes.toString()))
    socket.write(`GET http://127.0.0.1:${origin.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`)
    await eventually(() => expect(got).toContain(' 502 '))
    expect(got.split(' 103 ')).toHaveLength(MAX_INTERIM_ANSWERS + 1)
  })

  test('an answer with two lengths does not bring one for another origin', async () => {
    const port = await startBoth()
    const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
    const chunked = `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`
    const hostile = await startRaw((_request, socket) => socket.write(chunked))
    const socket = connect({ host: '127.0.0.1', port })
    closers.push(() => socket.destroy())
    const ask = (to: number) => socket.write(`GET http://127.0.0.1:${to}/ HTTP/1.1\r\nHost: x\r\n\r\n`)
    let got = ''
    socket.on('data', (bytes: Buffer) => (got += bytes.toString()))
    ask(hostile.port)
    ask(hostile.port)
    await eventually(() => expect(got).toContain(' 502 '))
    expect(got).not.toContain('evil')
  })
})

describe('a request while an egress node is alive that nobody reaches', () => {
  /** How a request that begins so many ms after the start ends, and after how long. */
  async function endOf(afterMs: number) {
    const made = world()
    const [egress, client] = [await made.member(), await made.member()]
    await offerEgress(egress)
    made.setReachable(egress, false)
    const clock = createManualClock(systemClock.now())
    const components = { ...client.components, clock }
    const choice = createEgressChoice(undefined, components)
    const legacy = createLegacyStreams(components)
    components.user.announce()
    await components.user.announced(AbortSignal.timeout(5_000))
    await clock.advance(afterMs)
    let ended: unknown
    const signal = new AbortController().signal
    openTunnel({ host: '192.0.2.1', port: 80 }, signal, { ...components, choice, legacy }).catch(
      (error: unknown) => {
        ended = error
      },
    )
    const began = clock.monotonic()
    while (ended === undefined) await clock.advance(50)
    return { ended, tookMs: clock.monotonic() - began }
  }

  test.each([
    ['soon after the start', 0, EGRESS_AWAITED_MS],
    ['later', 60_000, LOCAL_WAIT_MS],
  ])('%s ends with the reason, in bounded time', async (_name, afterMs, withinMs) => {
    const { ended, tookMs } = await endOf(afterMs)
    expect(ended).toMatchObject({
      code: 'services.no_provider',
      message: expect.stringContaining('no egress node could be reached: the peer cannot be reached'),
    })
    expect(tookMs).toBeGreaterThan(withinMs / 2)
    expect(tookMs).toBeLessThanOrEqual(withinMs)
  })
})
