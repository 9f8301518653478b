/**
 * One engine with a real interface, in a process of its own (for a network namespace of its own), whose frames go
 * over a unix socket: those cross namespaces. Reads commands from stdin, a line each, and answers with a line.
 *
 *   node --conditions=mesh-source test/host.ts '{"name":"mesh0","listen":"/run/x.sock",...}'
 */
import { randomBytes } from 'node:crypto'
import { createConnection, createServer, type Socket } from 'node:net'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import {
  type AddressInRange,
  MeshError,
  parseCidr,
  parseIp,
  peerIdFromPublicKey,
  tryParseAddressInRange,
} from '@mesh/core'
import {
  type Engine,
  type EngineEvent,
  type EnginePeer,
  type EngineTable,
  type KernelEngineInit,
  openEngine,
  openKernelEngine,
  type PacketRules,
  type Tunnel,
  type TunnelPath,
} from '../src/index.ts'
import { manyRules } from './many-rules.ts'

export interface HostInit {
  readonly name: string
  /** `10.9.0.1/24` */
  readonly addresses: readonly string[]
  readonly mtu: number
  /** How many queues the interface has. */
  readonly queues?: number
  /** What the other one owns. */
  readonly allowed: readonly string[]
  /** One of the two waits at this path or `IP:PORT`, the other one comes. Neither: it stays alone. */
  readonly listen?: string
  readonly connect?: string
  /** The kernel's WireGuard in the engine's place; by the netlink of a program that listens at this path, if it names one. */
  readonly kernel?: string
  /** Or a stock WireGuard at an address, reached over UDP. */
  readonly wireguard?: {
    /** Hexadecimal. */
    readonly publicKey: string
    readonly address: string
    readonly port: number
  }
  /** Or stock WireGuard devices as guests, each with its public key, base64, and its address. */
  readonly guests?: readonly { readonly key: string; readonly address: string }[]
}

const PUBLIC_KEY_BYTES = 32
const PRESHARED_KEY = new Uint8Array(32).fill(5)

const init = JSON.parse(process.argv[2] ?? '{}') as HostInit
const peer = peerIdFromPublicKey(new Uint8Array(PUBLIC_KEY_BYTES).fill(1))
const events: EngineEvent[] = []
let socket: Socket | undefined
const moved = { takes: 0, taken: 0, injects: 0, injected: 0 }

/** What was let in from the interface, as the filter was told. */
const filtered: { readonly name: string; readonly local: readonly string[] }[] = []
/** The other end's key, once it said it. */
let theirKey: Uint8Array | undefined
/** The table in use, without rules. */
let table: EngineTable = { local: [], peers: [] }
const engine = openOrExit()
if (init.connect !== undefined) begin(createConnection(endpoint(init.connect)))
else if (init.listen !== undefined)
  createServer(begin).listen(endpoint(init.listen), () => answer({ listening: true }))
else if (init.wireguard !== undefined) meet(init.wireguard)
else if (init.guests !== undefined) welcome(init.guests)
else answer({ alone: true })
createInterface({ input: process.stdin })
  .on('line', command)
  .on('close', () => process.exit())

function openOrExit(): Engine {
  try {
    const { kernel } = init
    const open = kernel === undefined ? openEngine : openKernel
    return open({
      ...(kernel !== undefined && kernel !== '' && { netlink: kernel }),
      name: init.name,
      addresses: init.addresses.map(inRange),
      mtu: init.mtu,
      ...(init.queues !== undefined && { queues: init.queues }),
      privateKey: randomBytes(32),
      udp: {},
      onEvent(event) {
        if (event.type === 'readable') send()
        else if (event.type === 'writable') socket?.resume()
        else events.push(event)
      },
    })
  } catch (error) {
    answer({
      error: error instanceof MeshError ? { code: error.code, message: error.message } : String(error),
    })
    process.exit(1)
  }
}

/** What the filter is told stands in for nftables. */
function openKernel(kernelInit: KernelEngineInit): Engine {
  const filter = {
    set: (name: string, local: readonly string[]) => void filtered.push({ name, local }),
    clear() {},
  }
  return openKernelEngine(kernelInit, { filter })
}

/** Each says its public key first; that is enough for a test. */
function begin(connection: Socket): void {
  connection.setNoDelay?.(true)
  connection.write(engine.publicKey)
  let key: Buffer | undefined = Buffer.alloc(0)
  connection.on('data', (bytes) => {
    if (key === undefined) {
      moved.injects++
      moved.injected += bytes.length
      if (!engine.inject(peer, bytes)) connection.pause()
      return
    }
    key = Buffer.concat([key, bytes])
    if (key.length < PUBLIC_KEY_BYTES) return
    const publicKey = Uint8Array.from(key.subarray(0, PUBLIC_KEY_BYTES))
    const rest = key.subarray(PUBLIC_KEY_BYTES)
    key = undefined
    theirKey = publicKey
    setTable(publicKey, { kind: 'stream' })
    socket = connection
    engine.restart(peer)
    if (rest.length > 0) engine.inject(peer, rest)
    answer({ joined: true, interface: engine.interface, port: engine.udpPort })
  })
  connection.on('drain', send)
  connection.on('error', () => {})
}

/** The other end is told this one's key and port by whoever runs the test. */
function meet({ publicKey, address, port }: NonNullable<HostInit['wireguard']>): void {
  setTable(Uint8Array.from(Buffer.from(publicKey, 'hex')), {
    kind: 'udp',
    endpoint: { address: parseIp(address), port },
    alsoStream: false,
    mtu: init.mtu,
  })
  tellKey()
}

/** They come by themselves. */
function welcome(guests: NonNullable<HostInit['guests']>): void {
  const { mtu } = init
  engine.setTable({
    local: ownRanges(),
    peers: [],
    guests: guests.map(({ key, address }) => ({
      key,
      presharedKey: PRESHARED_KEY,
      allowed: [parseCidr(`${address}/32`)],
      mtu,
    })),
  })
  tellKey()
}

function tellKey(): void {
  answer({ publicKey: Buffer.from(engine.publicKey).toString('base64'), port: engine.udpPort })
}

function ownRanges() {
  const addresses = init.addresses.map(inRange)
  return addresses.map(({ address }) => parseCidr(`${address}/${address.includes(':') ? 128 : 32}`))
}

function setTable(publicKey: Uint8Array, path: TunnelPath, allowed = init.allowed): void {
  table = {
    local: ownRanges(),
    peers: [tableOf({ kind: 'wireguard', publicKey, presharedKey: PRESHARED_KEY, path }, allowed)],
  }
  engine.setTable(table)
}

function tableOf(tunnel: Tunnel, allowed = init.allowed): EnginePeer {
  return { peer, allowed: allowed.map(parseCidr), mtu: init.mtu, tunnel }
}

/** `stream`, or the address and the port of a way over UDP and perhaps how much it takes. */
function move([address = '', port, mtu]: readonly string[]): void {
  if (theirKey === undefined) throw new Error('nobody has joined')
  const udp = (): TunnelPath => ({
    kind: 'udp',
    endpoint: { address: parseIp(address), port: Number(port) },
    alsoStream: false,
    mtu: Number(mtu ?? init.mtu),
  })
  setTable(theirKey, address === 'stream' ? { kind: 'stream' } : udp())
}

/** Names other ranges of the peer, with the stream as the way. */
function allow(ranges: readonly string[]): void {
  if (theirKey !== undefined) setTable(theirKey, { kind: 'stream' }, ranges)
}

/** Puts these rules in force, or so many, 0 for none; says how long that took. */
function rule(asked: PacketRules | number): void {
  const drawn = (count: number) => (count === 0 ? undefined : manyRules(count, [init.allowed, ownRanges()]))
  const rules = typeof asked === 'number' ? drawn(asked) : asked
  const began = performance.now()
  engine.setTable({ ...table, rules })
  answer({ ms: performance.now() - began })
}

function probe([address = '', port, text = '']: readonly string[]): void {
  answer({ sent: engine.sendDatagram({ address: parseIp(address), port: Number(port) }, Buffer.from(text)) })
}

/** Sends bytes that are named in hex. */
function sendBytes([address = '', port, hex = '']: readonly string[]): void {
  const to = { address: parseIp(address), port: Number(port) }
  answer({ sent: engine.sendDatagram(to, Buffer.from(hex, 'hex')) })
}

/** Expects the probes of a pair whose other end is at that address: its tokens and its key, in hex. */
function expectProbes([token = '', theirToken = '', key = '', address = '', port]: readonly string[]): void {
  const [own, theirs, secret] = [token, theirToken, key].map((hex) => Buffer.from(hex, 'hex'))
  if (own === undefined || theirs === undefined || secret === undefined) return
  const endpoints = [{ address: parseIp(address), port: Number(port) }]
  attempt(() => engine.expectProbes({ token: own, theirToken: theirs, key: secret, endpoints }))
}

/** Takes only what the socket can send now. */
function send(): void {
  while (socket !== undefined && !socket.writableNeedDrain) {
    const batch = engine.take(peer)
    if (batch === undefined) return
    moved.takes++
    moved.taken += batch.length
    socket.write(batch)
  }
}

function command(line: string): void {
  const [verb, ...rest] = line.split(' ')
  if (verb === 'stats') {
    const { peers, device } = engine.stats()
    answer({
      peer: peers.get(peer),
      device,
      events,
      moved,
      threads: threadSeconds(),
      memory: process.memoryUsage().rss,
    })
  } else if (verb === 'guests') welcome(JSON.parse(rest.join(' ')) as NonNullable<HostInit['guests']>)
  else if (verb === 'routes') attempt(() => engine.setRoutes(rest.map(parseCidr)))
  else if (verb === 'addresses') attempt(() => engine.setAddresses(rest.map(inRange)))
  else if (verb === 'bind') bind(rest[0] ?? '')
  else if (verb === 'path') attempt(() => move(rest))
  else if (verb === 'allow') attempt(() => allow(rest))
  else if (verb === 'rules') rule(JSON.parse(rest.join(' ')) as PacketRules | number)
  else if (verb === 'port') answer({ port: engine.udpPort })
  else if (verb === 'remove') attempt(() => engine.setTable({ local: [], peers: [] }))
  else if (verb === 'forget')
    attempt(() => engine.setTable({ local: [], peers: [tableOf({ kind: 'none' })] }))
  else if (verb === 'filtered') answer({ filtered })
  else if (verb === 'send') probe(rest)
  else if (verb === 'bytes') sendBytes(rest)
  else if (verb === 'expect') expectProbes(rest)
  else if (verb === 'datagrams')
    answer({
      datagrams: engine
        .takeDatagrams()
        .map(({ from, length, bytes }) => ({ from, length, text: Buffer.from(bytes).toString('latin1') })),
    })
  else if (verb === 'close') attempt(() => engine.close())
  else answer({ error: `no such command: ${verb}` })
}

function endpoint(text: string): { path: string } | { host: string; port: number } {
  const [host = '', port] = text.split(':')
  return port === undefined ? { path: text } : { host, port: Number(port) }
}

/** CPU seconds of each kind of thread: in its own code, and in the kernel. */
function threadSeconds(): Record<string, [number, number]> {
  const sums: Record<string, [number, number]> = {}
  for (const id of readdirSync('/proc/self/task')) {
    const text = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
    const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
    // utime and stime (proc_pid_stat(5)), in hundredths of a second
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [user = 0, system = 0] = sums[name] ?? []
    sums[name] = [user + Number(fields[11]) / 100, system + Number(fields[12]) / 100]
  }
  return sums
}

function bind(host: string): void {
  const server = createServer()
  server.once('error', (error) => answer({ error: error.message }))
  server.listen({ host, port: 0 }, () => {
    server.close()
    answer({ bound: true })
  })
}

function attempt(act: () => void): void {
  try {
    act()
    answer({ done: true })
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : String(error) })
  }
}

function inRange(text: string): AddressInRange {
  const address = tryParseAddressInRange(text)
  if (address === undefined) throw new Error(`not an address: ${text}`)
  return address
}

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
