/** Services between members in one process: real sockets and ledgers, streams in memory. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createSocket } from 'node:dgram'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { eventually } from '@mesh/testkit'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { LOCAL_CONNECTIONS, MAX_BULK_UDP_SESSIONS, MAX_PEER_CONNECTIONS } from '../src/limits.ts'
import type { ByteStream } from '../src/ports.ts'
import { SERVICE_PROTOCOL } from '../src/protocols.ts'
import { encodeFrame, readMessage } from '../src/streams/frames.ts'
import { decodeAnswer, encodeServiceRequest } from '../src/wire/messages.ts'
import { createWorld, type Member } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function world() {
  const made = createWorld()
  closers.push(() => made.close())
  return made
}

async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

const echo = () => listen((socket) => socket.pipe(socket))

function exchange(port: number, sent: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    const got: Buffer[] = []
    socket.on('error', reject)
    socket.on('data', (bytes) => got.push(bytes))
    socket.on('end', () => resolve(Buffer.concat(got)))
    socket.end(sent)
  })
}

const portIn = (listen: string | undefined) => Number(/:(\d+)$/.exec(listen ?? '')?.[1])

/** Opens a stream as a member that does as it likes. */
async function ask(from: Member, to: Member, bytes: Uint8Array) {
  const stream = await from.network.streams.open(to.id, SERVICE_PROTOCOL, { from: 'proven', relayed: true })
  stream.send(bytes)
  return stream
}

async function answerOf(stream: ByteStream, clock: Member['components']['clock']) {
  const { message } = await readMessage(stream, { maxBytes: 8192, withinMs: 10_000, clock })
  return decodeAnswer(message)
}

const request = (
  name: string,
  entries: Uint8Array = new Uint8Array(),
  kind: 'stream' | 'datagram' = 'stream',
) => encodeFrame(encodeServiceRequest({ name, kind, entries }))

describe('a service that this process serves', () => {
  const accepting = (accept: (connection: Duplex, peer: string) => void) => ({
    name: 'here',
    accept,
    allowHalfOpen: true,
  })
  const never = new AbortController().signal

  test('takes connections of members and of its own node without a port, and says whose they are', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const [offering, asking] = [await a.services({}), await b.services({})]
    const peers: string[] = []
    await offering.serve(
      accepting((connection, peer) => {
        peers.push(peer)
        connection.pipe(connection)
      }),
    )
    for (const services of [asking, offering]) {
      const connection = await services.dial('here', never)
      connection.end('hello')
      expect(await text(connection)).toBe('hello')
    }
    expect(peers).toEqual([b.id, a.id])
    await eventually(() =>
      expect(offering.status().services).toMatchObject([
        {
          name: 'here',
          target: 'program',
          state: 'announced',
          connections: 2,
          openConnections: 0,
          bytesIn: 5,
        },
      ]),
    )
  })

  test('is reached through a local port as others are, and ends its connections when it is withdrawn', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const offering = await a.services({})
    await offering.serve(accepting((connection) => connection.write('hi')))
    const connected = await b.services({ connections: [{ name: 'here', address: '127.0.0.1:0' }] })
    const socket = connect({ host: '127.0.0.1', port: portIn(connected.status().connections[0]?.listen) })
    closers.push(() => socket.destroy())
    let closed = false
    socket.on('error', () => {}).once('close', () => (closed = true))
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toBe('hi')
    await offering.withdraw('here')
    await eventually(() => expect(closed).toBe(true))
    expect(a.ledger.snapshot().getLive('services', 'here')).toBeUndefined()
  })

  test('a connection that breaks ends no process, and the end of the node ends those that it opened', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const [offering, asking] = [await a.services({}), await b.services({})]
    await offering.serve(accepting((connection) => connection.write('hi')))
    const connection = await asking.dial('here', never)
    await once(connection, 'data')
    await asking.stop()
    expect(connection.destroyed).toBe(true)
    expect(connection.errored).toMatchObject({ code: 'services.stopped' })
    await eventually(() => expect(offering.status().services[0]?.openConnections).toBe(0))
    await expect(asking.dial('here', never)).rejects.toMatchObject({ code: 'services.stopped' })
  })

  test('dialling a name that nobody offers ends with the signal', async () => {
    const asking = await (await world().member()).services({})
    const giveUp = new AbortController()
    const dialling = asking.dial('nobody', giveUp.signal)
    giveUp.abort(new Error('given up'))
    await expect(dialling).rejects.toThrow('given up')
    await expect(asking.dial('', never)).rejects.toMatchObject({ code: 'services.bad_name' })
  })

  test('a service at an address is dialled by its own node, too', async () => {
    const services = await (await world().member()).services({})
    await services.expose({ name: 'echo', address: `127.0.0.1:${await echo()}` })
    const connection = await services.dial('echo', never)
    connection.end('hello')
    expect(await text(connection)).toBe('hello')
  })
})

describe('a service', () => {
  test('over UDP leaves TLS connections for others, however many clients it has', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const udp = () => {
      const socket = createSocket('udp4')
      closers.push(() => socket.close())
      return socket
    }
    const target = udp()
    target.on('message', (bytes, { port }) => target.send(bytes, port, '127.0.0.1'))
    await new Promise<void>((resolve) => target.bind(0, '127.0.0.1', resolve))
    await a.services({ services: [{ name: 'udp', address: `udp:127.0.0.1:${target.address().port}` }] })
    const connected = await b.services({ connections: [{ name: 'udp', address: 'udp:127.0.0.1:0' }] })
    const open = vi.spyOn(b.network.streams, 'open')
    const port = portIn(connected.status().connections[0]?.listen)
    const answers = Array.from({ length: 2 * MAX_BULK_UDP_SESSIONS }, () => {
      const client = udp()
      const answer = new Promise((resolve) => client.once('message', resolve))
      client.send('x', port, '127.0.0.1')
      return answer
    })
    await Promise.all(answers)
    const bulk = open.mock.calls.map(([, , options]) => options.bulk)
    expect(bulk.filter((each) => each === true)).toHaveLength(MAX_BULK_UDP_SESSIONS)
    expect(bulk.filter((each) => each === false)).toHaveLength(MAX_BULK_UDP_SESSIONS)
  })

  test('of whose local connections one address has all takes one of another', async () => {
    const member = await world().member()
    const connected = await member.services({ connections: [{ name: 'x', address: '127.0.0.1:0' }] })
    const status = () => connected.status().connections[0]
    let closed = 0
    const open = (localAddress: string) => {
      const socket = connect({ host: '127.0.0.1', port: portIn(status()?.listen), localAddress })
      closers.push(() => socket.destroy())
      socket.on('error', () => {})
      socket.once('close', () => closed++)
      return socket
    }
    for (let at = 0; at < LOCAL_CONNECTIONS.all; at++) open('127.0.0.2')
    await eventually(() => expect(status()?.openConnections).toBe(LOCAL_CONNECTIONS.all))
    const newcomer = open('127.0.0.3')
    await eventually(() => expect(closed).toBe(1))
    expect(newcomer.destroyed).toBe(false)
  })

  test('is reached by its name among several, and its status tells the bytes', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const [first, second] = [await echo(), await listen((socket) => socket.end('second'))]
    const offered = await a.services({
      services: [
        { name: 'echo', address: `127.0.0.1:${first}` },
        { name: 'other', address: `127.0.0.1:${second}` },
      ],
    })
    const connected = await b.services({
      connections: [
        { name: 'echo', address: '127.0.0.1:0' },
        { name: 'other', address: ':0' },
      ],
    })
    const [toEcho, toOther] = connected.status().connections
    const sent = randomBytes(500_000)
    expect((await exchange(portIn(toEcho?.listen), sent)).equals(sent)).toBe(true)
    expect((await exchange(portIn(toOther?.listen), Buffer.alloc(0))).toString()).toBe('second')
    await eventually(() =>
      expect(connected.status().connections[0]).toMatchObject({
        state: 'connected',
        provider: a.id,
        path: 'direct',
        transport: 'memory',
        isLegacy: false,
        openConnections: 0,
        connections: 1,
        bytesIn: 500_000,
        bytesOut: 500_000,
        lastError: undefined,
      }),
    )
    expect(offered.status().services[0]).toMatchObject({
      state: 'announced',
      connections: 1,
      bytesIn: 500_000,
    })
  })

  test('states of the connecting side: waiting, connected, connecting, and waiting again', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const connected = await b.services({ connections: [{ name: 'echo', address: ':0' }] })
    const state = () => connected.status().connections[0]?.state
    expect(state()).toBe('waiting for a provider')
    const offered = await a.services({ services: [{ name: 'echo', address: `:${await echo()}` }] })
    await eventually(() => expect(state()).toBe('connected'))
    made.setReachable(a, false)
    await eventually(() => expect(state()).toBe('connecting'))
    made.setReachable(a, true)
    await eventually(() => expect(state()).toBe('connected'))
    expect(await offered.withdraw('echo')).toBe(true)
    await eventually(() => expect(state()).toBe('waiting for a provider'))
  })

  test('a local connection waits for a provider that comes shortly, and is reset when none comes', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const connected = await b.services({ connections: [{ name: 'echo', address: ':0' }] })
    const port = portIn(connected.status().connections[0]?.listen)
    const early = exchange(port, Buffer.from('early'))
    const offered = await a.services({ services: [{ name: 'echo', address: `:${await echo()}` }] })
    expect((await early).toString()).toBe('early')
    await offered.withdraw('echo')
    await expect(exchange(port, Buffer.from('late'))).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(connected.status().connections[0]?.lastError).toBe('nobody who is alive offers "echo"')
  }, 20_000)

  test('names, addresses and numbers that cannot be are refused with the reason', async () => {
    const services = await (await world().member()).services({})
    const code = (promise: Promise<unknown>) =>
      promise.then(
        () => 'ok',
        ({ code: of }: { code: string }) => of,
      )
    expect(await code(services.expose({ name: '', address: ':1' }))).toBe('services.bad_name')
    expect(await code(services.expose({ name: 'x'.repeat(300), address: ':1' }))).toBe('services.bad_name')
    expect(await code(services.expose({ name: 'a\nb', address: ':1' }))).toBe('services.bad_name')
    expect(await code(services.expose({ name: 'a', address: 'nowhere' }))).toBe('services.bad_address')
    expect(await code(services.connect({ name: 'a', address: ':0' }))).toBe('ok')
    expect(await code(services.connect({ name: 'a', address: ':0' }))).toBe('services.name_in_use')
    const taken = portIn(services.status().connections[0]?.listen)
    expect(await code(services.connect({ name: 'b', address: `:${taken}` }))).toBe('services.cannot_listen')
    expect(services.disconnect('a')).toBe(true)
    expect(services.disconnect('a')).toBe(false)
  })

  test('tells of every change of state, and nothing is left when it stops', async () => {
    const member = await world().member()
    const services = await member.services({})
    const states: unknown[] = []
    services.subscribe(({ type, status }) => states.push([type, status?.state]))
    await services.expose({ name: 'echo', address: `:${await echo()}` })
    await eventually(() => expect(services.status().services[0]?.state).toBe('announced'))
    await services.stop()
    await services.stop()
    expect(states).toContainEqual(['service', 'announced'])
    expect(member.ledger.snapshot().getLive('services', 'echo')).toBeUndefined()
  })
})

describe('who may connect', () => {
  test('a member that the server has not heard of is admitted by the entries in its request', async () => {
    const made = world()
    const a = await made.member({ isDeaf: true })
    await a.services({ services: [{ name: 'echo', address: `:${await echo()}` }] })
    const b = await made.member()
    const connected = await b.services({ connections: [{ name: 'echo', address: ':0' }] })
    const port = portIn(connected.status().connections[0]?.listen)
    expect(a.ledger.snapshot().getLive('users', b.id)).toBeUndefined()
    expect((await exchange(port, Buffer.from('first'))).toString()).toBe('first')
    expect(a.ledger.snapshot().getLive('users', b.id)?.owner).toBe(b.id)
  })

  test('without an entry in `users` it is refused, and told so', async () => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    const services = await a.services({ services: [{ name: 'echo', address: `:${await echo()}` }] })
    const stream = await ask(b, a, request('echo'))
    const answer = await answerOf(stream, b.components.clock)
    expect(answer).toEqual({ code: 'not_user', reason: expect.stringContaining("bucket 'users'") })
    expect(services.status().refusals).toEqual({ 'service.not_user': 1 })
  })

  test("another member's entries admit nobody", async () => {
    const made = world()
    const a = await made.member({ isDeaf: true })
    await a.services({ services: [{ name: 'echo', address: `:${await echo()}` }] })
    const [b, thief] = [await made.member(), await made.member()]
    b.components.user.announce()
    await eventually(() => expect(b.components.user.since).toBeDefined())
    const stream = await ask(thief, a, request('echo', b.components.user.entries()))
    expect((await answerOf(stream, b.components.clock))?.code).toBe('not_user')
    expect(a.ledger.snapshot().getLive('users', b.id)).toBeUndefined()
  })

  test.each([
    ['a name that nobody offers', 'nothing', 'stream', 'unknown_service'],
    ['datagrams of a service of streams', 'echo', 'datagram', 'wrong_kind'],
    ['a target that does not answer', 'closed', 'stream', 'target_down'],
  ] as const)('%s: %s', async (_what, name, kind, code) => {
    const made = world()
    const [a, b] = [await made.member(), await made.member()]
    await a.services({
      services: [
        { name: 'echo', address: `:${await echo()}` },
        { name: 'closed', address: '127.0.0.1:1' },
      ],
    })
    b.components.user.announce()
    await eventually(() => expect(b.components.user.since).toBeDefined())
    const stream = await ask(b, a, request(name, b.components.user.entries(), kind))
    expect((await answerOf(stream, b.components.clock))?.code).toBe(code)
  })
})

describe('hostile members', () => {
  test.each([
    ['garbage', randomBytes(10_000)],
    ['a message without an end', Buffer.concat([Buffer.of(0xff, 0x3f), Buffer.alloc(100)])],
    ['a length beyond the bound', Buffer.of(0xff, 0xff, 0x7f)],
    [
      'a huge name',
      encodeFrame(
        encodeServiceRequest({ name: 'x'.repeat(9_000), kind: 'stream', entries: Buffer.alloc(0) }),
      ),
    ],
    ['entries that are no JSON', request('echo', randomBytes(5_000))],
  ])(
    '%s: the stream ends, and others are served',
    async (_what, bytes) => {
      const made = world()
      const [a, b] = [await made.member(), await made.member()]
      await a.services({ services: [{ name: 'echo', address: `:${await echo()}` }] })
      const stream = await ask(b, a, bytes)
      const ended = new Promise((resolve) => stream.onEnd(resolve))
      stream.onRemoteEnd(() => stream.close())
      stream.onBytes(() => {})
      await ended
      const connected = await b.services({ connections: [{ name: 'echo', address: ':0' }] })
      const port = portIn(connected.status().connections[0]?.listen)
      expect((await exchange(port, Buffer.from('still here'))).toString()).toBe('still here')
    },
    20_000,
  )

  test('a member with more streams than the bound is told so, and another one is served', async () => {
    const made = world()
    const [a, b, c] = [await made.member(), await made.member(), await made.member()]
    const services = await a.services({ services: [{ name: 'echo', address: `:${await echo()}` }] })
    // half open: a request that never ends
    for (let at = 0; at < MAX_PEER_CONNECTIONS; at++) await ask(b, a, Buffer.of(0x7f))
    const stream = await ask(b, a, request('echo'))
    expect((await answerOf(stream, b.components.clock))?.code).toBe('busy')
    expect(services.status().refusals).toEqual({ 'service.busy': 1 })
    const connected = await c.services({ connections: [{ name: 'echo', address: ':0' }] })
    const port = portIn(connected.status().connections[0]?.listen)
    expect((await exchange(port, Buffer.from('served'))).toString()).toBe('served')
  })
})
