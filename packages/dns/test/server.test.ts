/** The server over real sockets on loopback. */
import { createSocket } from 'node:dgram'
import { connect, type Socket } from 'node:net'
import { type IpAddress, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import * as dnsPacket from 'dns-packet'
import { afterEach, expect, test } from 'vitest'
import { createDns } from '../src/create-dns.ts'
import type { Dns } from '../src/create-dns.ts'
import type { BoundAddress, DnsInit } from '../src/dns.ts'
import { createFakeLedger, encodeQuery, machine, OTHER, type QueryOptions, RANGES } from './names-world.ts'

const cleanUps: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

interface Served {
  readonly dns: Dns
  readonly ledger: ReturnType<typeof createFakeLedger>
  readonly at: BoundAddress
}

async function serve(init: DnsInit = {}, host = '127.0.0.1'): Promise<Served> {
  const ledger = createFakeLedger()
  ledger.put('machines', '10.1.0.5', machine('laptop'))
  const dns = createDns(
    { ownRanges: RANGES, hostRanges: RANGES, ...init },
    { ledger, clock: systemClock, random: systemRandom, log: silentLogger },
  )
  cleanUps.push(() => dns.stop())
  return { dns, ledger, at: await dns.listen({ host, port: 0 }) }
}

const forwardTo = (port: number, address = '127.0.0.1') => ({
  forward: { servers: [{ address: address as IpAddress, port, domain: '.' }] },
})

/** Rejects when nothing comes within the time. */
function sendUdp({ at }: Pick<Served, 'at'>, packet: Buffer, withinMs = 8_000): Promise<Buffer> {
  const socket = createSocket(at.host.includes(':') ? 'udp6' : 'udp4')
  return new Promise<Buffer>((resolve, reject) => {
    const cancel = systemClock.after(withinMs, () => reject(new Error('no answer')), { keepAlive: true })
    socket.on('message', (answer) => {
      cancel()
      resolve(answer)
    })
    socket.send(packet, at.port, at.host)
  }).finally(() => socket.close())
}

async function ask(served: Pick<Served, 'at'>, name: string, type = 'A', options: QueryOptions = {}) {
  return dnsPacket.decode(await sendUdp(served, encodeQuery(name, type, options)))
}

function openTcp({ at }: Served) {
  const socket = connect(at.port, at.host)
  socket.on('error', () => {})
  cleanUps.push(() => void socket.destroy())
  const answers: dnsPacket.DecodedPacket[] = []
  let received = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    while (received.length >= 2 && received.length >= received.readUInt16BE(0) + 2) {
      const length = received.readUInt16BE(0)
      answers.push(dnsPacket.decode(received.subarray(2, length + 2)))
      received = received.subarray(length + 2)
    }
  })
  return { socket, answers }
}

function framed(packet: Buffer): Buffer {
  return Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 0xff]), packet])
}

const isClosed = (socket: Socket) => eventually(() => expect(socket.closed).toBe(true), { withinMs: 5_000 })

test('UDP and TCP answer at one port, with the letters of who asks', async () => {
  const served = await serve()
  const answer = await ask(served, 'LaPtop.mesh')
  expect(answer).toMatchObject({ id: 7, rcode: 'NOERROR', flag_aa: true, flag_rd: true, flag_ra: false })
  expect(answer.questions).toMatchObject([{ name: 'LaPtop.mesh', type: 'A' }])
  expect(answer.answers).toMatchObject([{ name: 'LaPtop.mesh', ttl: 30, data: '10.1.0.5' }])
  const { socket, answers } = openTcp(served)
  socket.write(framed(encodeQuery('laptop.mesh', 'A')))
  await eventually(() => expect(answers).toHaveLength(1), { withinMs: 5_000 })
  expect(answers[0]?.answers).toMatchObject([{ data: '10.1.0.5' }])
})

test('what does not exist comes with the SOA that says for how long', async () => {
  const served = await serve()
  const absent = await ask(served, 'absent.mesh')
  expect(absent).toMatchObject({ rcode: 'NXDOMAIN', answers: [] })
  expect(absent.authorities).toMatchObject([{ name: 'mesh', type: 'SOA', ttl: 10, data: { minimum: 10 } }])
  expect(await ask(served, 'laptop.mesh', 'AAAA')).toMatchObject({
    rcode: 'NOERROR',
    authorities: [{ type: 'SOA' }],
  })
  expect(await ask(served, 'example.com')).toMatchObject({ rcode: 'REFUSED' })
})

test('EDNS is answered in kind, and only then', async () => {
  const served = await serve()
  expect((await ask(served, 'laptop.mesh')).additionals).toEqual([])
  const answer = await ask(served, 'laptop.mesh', 'A', { opt: { size: 4096, dnssecOk: true } })
  expect(answer.additionals).toMatchObject([
    { type: 'OPT', udpPayloadSize: 1232, flag_do: true, ednsVersion: 0 },
  ])
  const newer = encodeQuery('laptop.mesh', 'A', { opt: { size: 1232 } })
  newer[newer.length - 5] = 1
  const refused = dnsPacket.decode(await sendUdp(served, newer))
  expect(refused.additionals).toMatchObject([{ type: 'OPT', extendedRcode: 1 }])
})

test('a long answer is cut for UDP and whole over TCP', async () => {
  const served = await serve()
  served.ledger.put('dns', '^long\\.mesh\\.$', { 16: '"' + 'x'.repeat(900) + '"' })
  await eventually(
    async () => expect(await ask(served, 'long.mesh', 'TXT')).toMatchObject({ flag_tc: true }),
    {
      withinMs: 5_000,
    },
  )
  const wide = await ask(served, 'long.mesh', 'TXT', { opt: { size: 1232 } })
  expect(wide).toMatchObject({ flag_tc: false, answers: [{ type: 'TXT' }] })
  const { socket, answers } = openTcp(served)
  socket.write(framed(encodeQuery('long.mesh', 'TXT')))
  await eventually(() => expect(answers[0]?.answers).toHaveLength(1), { withinMs: 5_000 })
})

test('ANY gets one record', async () => {
  const served = await serve()
  expect(await ask(served, 'laptop.mesh', 'ANY')).toMatchObject({
    answers: [{ type: 'HINFO', data: { cpu: 'RFC8482' } }],
  })
  expect(await ask(served, 'absent.mesh', 'ANY')).toMatchObject({ rcode: 'NXDOMAIN' })
})

test('a change of the ledger is answered within a second', async () => {
  const served = await serve()
  expect(await ask(served, 'nas.mesh')).toMatchObject({ rcode: 'NXDOMAIN' })
  served.ledger.put('machines', '10.1.0.9', machine('nas', OTHER))
  await eventually(
    async () => expect(await ask(served, 'nas.mesh')).toMatchObject({ answers: [{ data: '10.1.0.9' }] }),
    {
      withinMs: 1_000,
      everyMs: 20,
    },
  )
})

test('noise of all kinds leaves it answering', async () => {
  const served = await serve()
  const socket = createSocket('udp4')
  cleanUps.push(() => void socket.close())
  for (let at = 0; at < 500; at++) {
    const noise = Buffer.from(systemRandom.bytes(at % 80))
    socket.send(noise, served.at.port, served.at.host)
    const mutated = encodeQuery('laptop.mesh', 'A')
    mutated[at % mutated.length] = at & 0xff
    socket.send(mutated, served.at.port, served.at.host)
  }
  await eventually(
    async () => expect(await ask(served, 'laptop.mesh')).toMatchObject({ answers: [{ data: '10.1.0.5' }] }),
    {
      withinMs: 10_000,
    },
  )
})

test('many questions in one TCP connection are answered, also when the client is done sending', async () => {
  const served = await serve()
  const { socket, answers } = openTcp(served)
  const packets = Array.from({ length: 300 }, (_, id) => framed(encodeQuery('laptop.mesh', 'A', { id })))
  const all = Buffer.concat(packets)
  for (let at = 0; at < all.length; at += 1_000) socket.write(all.subarray(at, at + 1_000))
  socket.end()
  await eventually(() => expect(answers).toHaveLength(300), { withinMs: 5_000 })
  expect(new Set(answers.map(({ id }) => id)).size).toBe(300)
  await isClosed(socket)
})

test('an answer sent as a question over TCP ends the connection', async () => {
  const served = await serve()
  const { socket } = openTcp(served)
  const packet = encodeQuery('laptop.mesh', 'A')
  packet[2] = 0x81
  socket.write(framed(packet))
  await isClosed(socket)
  expect(served.dns.status().outcomes.ignored).toBe(1)
})

test('TCP connections are bounded', async () => {
  const served = await serve()
  const sockets = Array.from({ length: 76 }, () => openTcp(served).socket)
  await eventually(() => expect(sockets.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(12), {
    withinMs: 5_000,
  })
  expect(served.dns.status().outcomes.limited).toBe(12)
  for (const socket of sockets) socket.destroy()
  await eventually(async () => {
    const { socket, answers } = openTcp(served)
    socket.write(framed(encodeQuery('laptop.mesh', 'A')))
    await eventually(() => expect(answers).toHaveLength(1), { withinMs: 200 })
  })
})

test('names of others come from the forwarder, with its code and all sections, and then from the cache', async () => {
  const upstream = createSocket('udp4')
  cleanUps.push(() => void upstream.close())
  let asked = 0
  upstream.on('message', (packet, { port }) => {
    asked++
    const { id = 0, questions = [] } = dnsPacket.decode(packet)
    const name = questions[0]?.name ?? ''
    const isAbsent = name.toLowerCase().startsWith('absent')
    const soa = { mname: 'ns.org', rname: 'h.org', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 60 }
    const answer = dnsPacket.encode({
      type: 'response',
      id,
      flags: isAbsent ? 3 : 0,
      questions,
      answers: isAbsent ? [] : [{ name, type: 'A', ttl: 60, data: '192.0.2.80' }],
      authorities: isAbsent
        ? [{ name: 'org', type: 'SOA', ttl: 60, data: soa }]
        : [{ name: 'www.org', type: 'NS', ttl: 60, data: 'ns.org' }],
      additionals: isAbsent ? [] : [{ name: 'ns.org', type: 'A', ttl: 60, data: '192.0.2.53' }],
    })
    upstream.send(answer, port, '127.0.0.1')
  })
  await new Promise<void>((resolve) => upstream.bind(0, '127.0.0.1', resolve))
  const served = await serve(forwardTo(upstream.address().port))
  for (let turn = 0; turn < 3; turn++) {
    const answer = await ask(served, 'WWW.org')
    expect(answer).toMatchObject({ rcode: 'NOERROR', flag_ra: true, flag_aa: false })
    expect(answer.questions).toMatchObject([{ name: 'WWW.org' }])
    expect(answer.answers).toMatchObject([{ data: '192.0.2.80' }])
    expect(answer.authorities).toMatchObject([{ type: 'NS' }])
    expect(answer.additionals).toMatchObject([{ name: 'ns.org', data: '192.0.2.53' }])
    expect(await ask(served, 'absent.org')).toMatchObject({
      rcode: 'NXDOMAIN',
      authorities: [{ type: 'SOA' }],
    })
  }
  expect(asked).toBe(2)
  expect(await ask(served, 'absent.mesh')).toMatchObject({ rcode: 'NXDOMAIN' })
  expect(await ask(served, '77.0.1.10.in-addr.arpa', 'PTR')).toMatchObject({ rcode: 'NXDOMAIN' })
  served.ledger.put('dns', '^git\\.mesh\\.$', { 5: 'www.org.' })
  await eventually(async () => {
    const followed = await ask(served, 'git.mesh')
    expect(followed.answers).toMatchObject([{ type: 'CNAME' }, { type: 'A', data: '192.0.2.80' }])
  })
  expect(asked).toBe(2)
  expect(served.dns.status().forwarder?.hits).toBeGreaterThan(3)
})

test('two that forward to each other end the circle with an error', { timeout: 20_000 }, async () => {
  const first = await serve()
  const second = await serve(forwardTo(first.at.port))
  await first.dns.stop()
  const again = createDns(forwardTo(second.at.port), {
    ledger: first.ledger,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  })
  cleanUps.push(() => again.stop())
  await again.listen(first.at)
  expect(await ask(second, 'www.org')).toMatchObject({ rcode: 'SERVFAIL' })
  const packets = second.dns.status().outcomes
  expect(packets.failed + packets.cached + packets.forwarded).toBeLessThan(20)
})

test.each([
  ['its own address', '127.0.0.1', '127.0.0.1'],
  ['another address of loopback', '0.0.0.0', '127.0.0.5'],
  ['the address of nobody', '127.0.0.1', '0.0.0.0'],
])('a server that is given itself by %s leaves itself out and says so', async (_how, host, server) => {
  const first = await serve()
  const { port } = first.at
  await first.dns.stop()
  const dns = createDns(forwardTo(port, server), {
    ledger: first.ledger,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  })
  cleanUps.push(() => dns.stop())
  await dns.listen({ host, port })
  const at = { host: '127.0.0.1', port }
  expect(await ask({ at }, 'www.org')).toMatchObject({ rcode: 'REFUSED' })
  expect(dns.problems()).toMatchObject([
    { code: 'dns.forwards_to_itself', hint: expect.stringContaining('--dns-forward-server') as string },
  ])
})

test('a server that is this one among others is left out, and is no problem', async () => {
  const upstream = await serve()
  upstream.ledger.put('dns', '^www\\.org\\.$', { 1: '192.0.2.80' })
  const served = await serve({ forward: { servers: [] } })
  served.dns.forwardTo([
    { address: '127.0.0.1' as IpAddress, port: served.at.port, domain: '.' },
    { address: '127.0.0.1' as IpAddress, port: upstream.at.port, domain: '.' },
  ])
  expect(await ask(served, 'www.org')).toMatchObject({ rcode: 'NOERROR', answers: [{ data: '192.0.2.80' }] })
  expect(served.dns.problems()).toEqual([])
})

test('servers that come later are asked, also for a name that was refused before', async () => {
  const upstream = await serve()
  upstream.ledger.put('dns', '^www\\.org\\.$', { 1: '192.0.2.80' })
  const served = await serve({ forward: { servers: [] } })
  expect(await ask(served, 'www.org')).toMatchObject({ rcode: 'REFUSED' })
  expect(served.dns.problems()).toMatchObject([{ code: 'dns.no_forwarder' }])
  served.dns.forwardTo(forwardTo(upstream.at.port).forward.servers)
  expect(await ask(served, 'www.org')).toMatchObject({ answers: [{ data: '192.0.2.80' }] })
  served.dns.forwardTo([])
  expect(await ask(served, 'www.org')).toMatchObject({ rcode: 'REFUSED' })
})

test('at all addresses, an answer leaves from the address that was asked', async () => {
  const ledger = createFakeLedger()
  ledger.put('machines', '10.1.0.5', machine('laptop'))
  const ownAddresses = () => ['127.0.0.1', '127.0.0.92']
  const dns = createDns(
    { ownRanges: RANGES, hostRanges: RANGES },
    { ledger, ownAddresses, clock: systemClock, random: systemRandom, log: silentLogger },
  )
  cleanUps.push(() => dns.stop())
  const { port } = await dns.listen({ host: '0.0.0.0', port: 0 })
  const client = createSocket('udp4')
  cleanUps.push(() => void client.close())
  const answer = new Promise<Buffer>((resolve) => client.once('message', resolve))
  // a connected socket hears the address that it asked, and no other
  await new Promise<void>((resolve) => client.connect(port, '127.0.0.92', resolve))
  client.send(encodeQuery('laptop.mesh', 'A'))
  expect(dnsPacket.decode(await answer)).toMatchObject({ answers: [{ data: '10.1.0.5' }] })
})

test('servers that fail show as a problem', { timeout: 20_000 }, async () => {
  const closed = await serve()
  await closed.dns.stop()
  const served = await serve(forwardTo(closed.at.port))
  expect(await ask(served, 'www.org')).toMatchObject({ rcode: 'SERVFAIL' })
  expect(served.dns.problems()).toMatchObject([{ code: 'dns.forwarders_failing' }])
})

test('an address in use says so', async () => {
  const served = await serve()
  const other = createDns(
    {},
    { ledger: served.ledger, clock: systemClock, random: systemRandom, log: silentLogger },
  )
  await expect(other.listen(served.at)).rejects.toMatchObject({
    code: 'dns.cannot_listen',
    details: { code: 'EADDRINUSE' },
  })
  await other.stop()
})

test('every address of the machine can be served, IPv4 and IPv6', async () => {
  const served = await serve({}, '0.0.0.0')
  await served.dns.stop()
  const dns = createDns(
    {},
    { ledger: served.ledger, clock: systemClock, random: systemRandom, log: silentLogger },
  )
  cleanUps.push(() => dns.stop())
  const { port } = await dns.listen({ host: undefined, port: 0 })
  for (const host of ['127.0.0.1', '::1']) {
    expect(await ask({ at: { host, port } }, 'laptop.mesh')).toMatchObject({
      answers: [{ data: '10.1.0.5' }],
    })
  }
})
