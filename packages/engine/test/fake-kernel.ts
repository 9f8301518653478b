/**
 * A program that stands in for the kernel's netlink where there is no WireGuard module: it takes the messages that the
 * kernel would get, bit by bit as the kernel's headers have them, and does with wireguard-go and `ip` what they ask for, so
 * that real packets flow.
 *
 *   node --conditions=mesh-source test/fake-kernel.ts SOCKET WIREGUARD-GO
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { eventually } from '@mesh/testkit'

const [ROUTE, GENERIC] = [0, 16]
const [NLMSG_ERROR, NLMSG_DONE] = [2, 3]
const [RTM_NEWLINK, RTM_DELLINK, RTM_GETLINK, RTM_SETLINK, RTM_NEWADDR, RTM_DELADDR] = [
  16, 17, 18, 19, 20, 21,
]
const [IFLA_IFNAME, IFLA_MTU, IFLA_LINKINFO, IFLA_IFALIAS] = [3, 4, 18, 20]
const [CTRL, FAMILY] = [16, 42]
const [ENOENT, ENODEV, EINVAL, EOPNOTSUPP] = [2, 19, 22, 95]
const [GET_DEVICE, SET_DEVICE] = [0, 1]

class Refusal extends Error {
  readonly errno: number

  constructor(errno: number) {
    super(`errno ${errno}`)
    this.errno = errno
  }
}

const [socketPath = '', wireguardGo = ''] = process.argv.slice(2)
let device: { readonly name: string; readonly index: number; readonly child: ChildProcess } | undefined

createServer(serve).listen(socketPath, () => process.stdout.write('{"listening":true}\n'))
process.stdin.resume().on('end', () => end())
process.on('SIGTERM', () => end())

function end(): void {
  device?.child.kill()
  process.exit()
}

function serve(socket: Socket): void {
  let waiting = Buffer.alloc(0)
  let protocol: number | undefined
  let busy = Promise.resolve()
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    waiting = Buffer.concat([waiting, bytes])
    if (protocol === undefined) {
      protocol = waiting[0]
      waiting = waiting.subarray(1)
    }
    while (waiting.length >= 16 && waiting.length >= aligned(waiting.readUInt32LE(0))) {
      const length = aligned(waiting.readUInt32LE(0))
      const message = Buffer.from(waiting.subarray(0, waiting.readUInt32LE(0)))
      waiting = waiting.subarray(length)
      busy = busy.then(() => answer(socket, protocol ?? ROUTE, message))
    }
  })
}

async function answer(socket: Socket, protocol: number, message: Buffer): Promise<void> {
  const [type, sequence] = [message.readUInt16LE(4), message.readUInt32LE(8)]
  const body = message.subarray(16)
  const send = (kind: number, payload: Buffer, flags = 0) => {
    const out = Buffer.alloc(aligned(16 + payload.length))
    out.writeUInt32LE(16 + payload.length, 0)
    out.writeUInt16LE(kind, 4)
    out.writeUInt16LE(flags, 6)
    out.writeUInt32LE(sequence, 8)
    payload.copy(out, 16)
    socket.write(out)
  }
  let errno = 0
  try {
    if (protocol === GENERIC && type === FAMILY && body[0] === GET_DEVICE) {
      for (const part of await getDevice(body.subarray(4))) send(FAMILY, part, 2)
      return send(NLMSG_DONE, Buffer.alloc(4), 2)
    }
    if (protocol === GENERIC) {
      const reply = await generic(type, body)
      if (reply !== undefined) send(type, reply)
    } else await route(type, body)
  } catch (error) {
    errno = error instanceof Refusal ? error.errno : EINVAL
    if (!(error instanceof Refusal)) process.stderr.write(`${String(error)}\n`)
  }
  const code = Buffer.alloc(20)
  code.writeInt32LE(-errno, 0)
  send(NLMSG_ERROR, code)
}

async function route(type: number, body: Buffer): Promise<void> {
  if (type === RTM_NEWADDR || type === RTM_DELADDR) return address(type, body)
  const [index, flags, change] = [body.readInt32LE(4), body.readUInt32LE(8), body.readUInt32LE(12)]
  const found = attributes(body.subarray(16))
  if (type === RTM_NEWLINK) return await newLink(found)
  if (device === undefined || (type !== RTM_GETLINK && device.index !== index)) throw new Refusal(ENODEV)
  const { name, child } = device
  if (type === RTM_DELLINK) {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await gone
    device = undefined
  } else if (type === RTM_SETLINK) {
    const [mtu, alias] = [found.get(IFLA_MTU), found.get(IFLA_IFALIAS)]
    if (mtu !== undefined) ip('link', 'set', 'dev', name, 'mtu', String(mtu.readUInt32LE(0)))
    if (alias !== undefined) ip('link', 'set', 'dev', name, 'alias', textOf(alias))
    if ((change & flags & 1) === 1) await setUp(name)
  } else throw new Refusal(ENODEV)
}

async function newLink(found: ReadonlyMap<number, Buffer>): Promise<void> {
  const kind = attributes(found.get(IFLA_LINKINFO) ?? Buffer.alloc(0)).get(1)
  if (kind === undefined || textOf(kind) !== 'wireguard' || wireguardGo === 'none')
    throw new Refusal(EOPNOTSUPP)
  const name = textOf(found.get(IFLA_IFNAME) ?? Buffer.alloc(0))
  const environment = { ...process.env, WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1' }
  const child = spawn(wireguardGo, ['-f', name], { stdio: 'ignore', env: environment })
  await eventually(() => assert.ok(existsSync(`/var/run/wireguard/${name}.sock`)))
  await uapi(name, 'get=1\n\n')
  const [link] = JSON.parse(ip('-j', 'link', 'show', 'dev', name)) as { ifindex: number }[]
  device = { name, index: link?.ifindex ?? 0, child }
  ip('link', 'set', 'dev', name, 'mtu', String(found.get(IFLA_MTU)?.readUInt32LE(0) ?? 1420))
}

/** The kernel has its port when it answers; wireguard-go a little later. */
async function setUp(name: string): Promise<void> {
  ip('link', 'set', 'dev', name, 'up')
  await eventually(async () => assert.match(await uapi(name, 'get=1\n\n'), /^listen_port=[1-9]/m))
}

function address(type: number, body: Buffer): void {
  const [family, length, index] = [body[0], body[1], body.readUInt32LE(4)]
  const local = attributes(body.subarray(8)).get(2)
  if (device?.index !== index || local === undefined) throw new Refusal(ENODEV)
  const nodad = family === 10 && type === RTM_NEWADDR ? ['nodad'] : []
  ip(
    'addr',
    type === RTM_NEWADDR ? 'add' : 'del',
    `${addressOf(local)}/${length}`,
    'dev',
    device.name,
    ...nodad,
  )
}

async function generic(type: number, body: Buffer): Promise<Buffer | undefined> {
  const found = attributes(body.subarray(4))
  if (type === CTRL) {
    if (body[0] !== 3 || textOf(found.get(2) ?? Buffer.alloc(0)) !== 'wireguard') throw new Refusal(ENOENT)
    return Buffer.concat([Buffer.from([1, 2, 0, 0]), attribute(1, u16(FAMILY))])
  }
  if (type !== FAMILY || body[0] !== SET_DEVICE) throw new Refusal(EOPNOTSUPP)
  const name = textOf(found.get(2) ?? Buffer.alloc(0))
  if (device?.name !== name) throw new Refusal(ENODEV)
  const lines = ['set=1']
  const [key, flags, port, mark] = [3, 5, 6, 7].map((kind) => found.get(kind))
  if (mark !== undefined) lines.push(`fwmark=${mark.readUInt32LE(0)}`)
  if (port !== undefined) lines.push(`listen_port=${port.readUInt16LE(0)}`)
  if (flags !== undefined && (flags.readUInt32LE(0) & 1) === 1) lines.push('replace_peers=true')
  if (key !== undefined) lines.push(`private_key=${key.toString('hex')}`)
  for (const [, peer] of list(found.get(8))) lines.push(...peerLines(peer))
  const said = await uapi(name, `${lines.join('\n')}\n\n`)
  const errno = Number(/^errno=(-?\d+)/m.exec(said)?.[1] ?? 1)
  if (errno !== 0) throw new Refusal(Math.abs(errno))
  return undefined
}

function peerLines(bytes: Buffer): string[] {
  const found = attributes(bytes)
  const [key, preshared, flagBytes, endpoint, keepalive] = [1, 2, 3, 4, 5].map((kind) => found.get(kind))
  const flags = flagBytes?.readUInt32LE(0) ?? 0
  const lines = [`public_key=${key?.toString('hex')}`]
  if ((flags & 1) === 1) return [...lines, 'remove=true']
  if (preshared !== undefined) lines.push(`preshared_key=${preshared.toString('hex')}`)
  if (endpoint !== undefined) lines.push(`endpoint=${endpointOf(endpoint)}`)
  if (keepalive !== undefined) lines.push(`persistent_keepalive_interval=${keepalive.readUInt16LE(0)}`)
  if ((flags & 2) === 2) lines.push('replace_allowed_ips=true')
  for (const [, range] of list(found.get(9))) {
    const parts = attributes(range)
    lines.push(`allowed_ip=${addressOf(parts.get(2) ?? Buffer.alloc(4))}/${parts.get(3)?.[0]}`)
  }
  return lines
}

/** One message for each peer, as the kernel would where they do not fit into one. */
async function getDevice(body: Buffer): Promise<Buffer[]> {
  const name = textOf(attributes(body).get(2) ?? Buffer.alloc(0))
  if (device?.name !== name || device.child.exitCode !== null) throw new Refusal(ENODEV)
  const said = await uapi(name, 'get=1\n\n')
  const [own = '', ...peers] = said.split(/^public_key=/m)
  const port = Number(/^listen_port=(\d+)/m.exec(own)?.[1] ?? 0)
  const key = Buffer.from(/^private_key=(\w+)/m.exec(own)?.[1] ?? '', 'hex')
  const head = Buffer.from([GET_DEVICE, 1, 0, 0])
  const device0 = [attribute(2, Buffer.from(`${name}\0`)), attribute(6, u16(port)), attribute(3, key)]
  const parts = peers.map((text) =>
    Buffer.concat([
      head,
      attribute(2, Buffer.from(`${name}\0`)),
      attribute(8, attribute(0, peerState(text))),
    ]),
  )
  return [Buffer.concat([head, ...device0]), ...parts]
}

function peerState(text: string): Buffer {
  const number = (key: string) => BigInt(new RegExp(`^${key}=(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  const time = Buffer.alloc(16)
  time.writeBigInt64LE(number('last_handshake_time_sec'), 0)
  time.writeBigInt64LE(number('last_handshake_time_nsec'), 8)
  const endpoint = /^endpoint=(.*)$/m.exec(text)?.[1]
  return Buffer.concat([
    attribute(1, Buffer.from(text.slice(0, 64), 'hex')),
    ...(endpoint === undefined ? [] : [attribute(4, socketAddress(endpoint))]),
    attribute(6, time),
    attribute(7, u64(number('rx_bytes'))),
    attribute(8, u64(number('tx_bytes'))),
  ])
}

function attributes(bytes: Buffer): ReadonlyMap<number, Buffer> {
  return new Map(list(bytes))
}

function list(bytes: Buffer = Buffer.alloc(0)): [number, Buffer][] {
  const found: [number, Buffer][] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt16LE(at)
    if (length < 4) throw new Refusal(EINVAL)
    // without the bit that says that there are others inside
    found.push([bytes.readUInt16LE(at + 2) & 0x3fff, bytes.subarray(at + 4, at + length)])
    at += aligned(length)
  }
  return found
}

function attribute(kind: number, value: Buffer): Buffer {
  const out = Buffer.alloc(aligned(4 + value.length))
  out.writeUInt16LE(4 + value.length, 0)
  out.writeUInt16LE(kind, 2)
  value.copy(out, 4)
  return out
}

function aligned(length: number): number {
  return (length + 3) & ~3
}

function u16(value: number): Buffer {
  const out = Buffer.alloc(2)
  out.writeUInt16LE(value)
  return out
}

function u64(value: bigint): Buffer {
  const out = Buffer.alloc(8)
  out.writeBigUInt64LE(value)
  return out
}

function textOf(bytes: Buffer): string {
  return bytes.toString().replace(/\0.*$/s, '')
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':')
}

/** `struct sockaddr_in` and `sockaddr_in6`. */
function endpointOf(bytes: Buffer): string {
  const port = bytes.readUInt16BE(2)
  const isV4 = bytes.readUInt16LE(0) === 2
  return isV4 ? `${addressOf(bytes.subarray(4, 8))}:${port}` : `[${addressOf(bytes.subarray(8, 24))}]:${port}`
}

function socketAddress(text: string): Buffer {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(text) ?? []
  const isV4 = !host.includes(':')
  const out = Buffer.alloc(isV4 ? 16 : 28)
  out.writeUInt16LE(isV4 ? 2 : 10, 0)
  out.writeUInt16BE(Number(port), 2)
  if (isV4) Buffer.from(host.split('.').map(Number)).copy(out, 4)
  else sixteenBytes(host).copy(out, 8)
  return out
}

function sixteenBytes(text: string): Buffer {
  const [head = '', tail] = text.split('::')
  const words = (part: string) =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16))
  const [before, after] = [words(head), words(tail ?? '')]
  const all =
    tail === undefined
      ? before
      : [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
  const out = Buffer.alloc(16)
  for (const [at, word] of all.entries()) out.writeUInt16BE(word, at * 2)
  return out
}

function ip(...words: string[]): string {
  return execFileSync('ip', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Asks wireguard-go by the protocol of its control socket. */
function uapi(name: string, question: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(`/var/run/wireguard/${name}.sock`)
    let said = ''
    socket.once('connect', () => socket.write(question))
    socket.once('error', reject)
    socket.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (!said.endsWith('\n\n')) return
      socket.destroy()
      resolve(said)
    })
  })
}
