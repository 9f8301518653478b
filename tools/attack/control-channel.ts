/** The VPN's control channel by hand (docs/PROTOCOLS.md, 'VPN'), for members that are no nodes. */
import {
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import type { Stream } from '@libp2p/interface'
import { frameTexts } from '@mesh/network'
import { framed, onFrames, openStream, varint } from './attackers.ts'
import type { Reached } from './membership.ts'
import { RefusedError } from './tally.ts'

export const VPN = '/mesh/vpn/1'
const [HELLO, PROOF, PATHS] = [1, 2, 3]
/** What stands before the 32 bytes of an X25519 key in SPKI. */
const SPKI_HEAD = Buffer.from('302a300506032b656e032100', 'hex')

/** An address at which a member says to be. */
interface Candidate {
  /** IPv4. */
  readonly address: string
  readonly port: number
}

/** What the other side told of how its socket can be reached. */
export interface ToldPaths {
  readonly secret: Uint8Array
  readonly token: Uint8Array
  readonly candidates: readonly Candidate[]
}

export interface Control {
  readonly stream: Stream
  /** What the victim told, once it did. */
  readonly told: Promise<ToldPaths>
  sendPaths(paths: Uint8Array): void
}

/** Opens a control channel and says nothing on it. */
export const openControl = ({ connection }: Reached, signal: AbortSignal) =>
  openStream(connection, VPN, signal)

/** Opens a control channel and proves a fresh key on it. */
export async function exchangeKeys(reached: Reached, signal: AbortSignal): Promise<Control> {
  const stream = await openControl(reached, signal)
  const { privateKey, publicKey: own } = generateKeyPairSync('x25519')
  const publicKey = own.export({ type: 'spki', format: 'der' }).subarray(-32)
  const nonce = randomBytes(32)
  const [proven, told] = [Promise.withResolvers<void>(), Promise.withResolvers<ToldPaths>()]
  const end = (error: Error) => [proven, told].forEach(({ reject }) => reject(error))
  for (const { promise } of [proven, told]) promise.catch(() => {})
  stream.addEventListener('close', () => end(new RefusedError('the control channel was ended')))
  signal.addEventListener('abort', () => end(signal.reason as Error), { once: true })
  onFrames(stream, (frame) => {
    const message = readFields(frame)
    const [hello, proof, paths] = [HELLO, PROOF, PATHS].map((kind) => message.get(kind)?.[0])
    if (hello !== undefined) {
      const theirs = readFields(hello)
      const mac = proofOf(reached, {
        secret: diffieHellman({ privateKey, publicKey: publicKeyOf(bytesOf(theirs, 1)) }),
        ends: [
          { publicKey, nonce },
          { publicKey: bytesOf(theirs, 1), nonce: bytesOf(theirs, 2) },
        ],
      })
      stream.send(framed(bytesField(PROOF, bytesField(1, mac))))
    }
    if (proof !== undefined) proven.resolve()
    if (paths !== undefined) told.resolve(readPaths(paths))
  })
  const hello = [bytesField(1, publicKey), bytesField(2, nonce), numberField(3, 1_280)]
  stream.send(framed(bytesField(HELLO, Buffer.concat(hello))))
  await proven.promise
  return {
    stream,
    told: told.promise,
    sendPaths: (paths) => void stream.send(framed(bytesField(PATHS, paths))),
  }
}

/** What `sendPaths` says: a secret, a token, and where the sender is said to be. */
export function pathsOf({ secret, token, candidates }: ToldPaths): Uint8Array {
  return Buffer.concat([
    bytesField(1, secret),
    bytesField(2, token),
    ...candidates.map(({ address, port }) => {
      const bytes = Uint8Array.from(address.split('.').map(Number))
      return bytesField(3, Buffer.concat([bytesField(1, bytes), numberField(2, port), numberField(3, 1)]))
    }),
  ])
}

interface End {
  readonly publicKey: Uint8Array
  readonly nonce: Uint8Array
}

/** The proof of this end, which is the first of `ends`. */
function proofOf(
  { connection, self }: Reached,
  { secret, ends: [own, other] }: { readonly secret: Uint8Array; readonly ends: readonly [End, End] },
): Uint8Array {
  const [from, to] = [self.toString(), connection.remotePeer.toString()]
  const [first, second] = from < to ? [own, other] : [other, own]
  const salt = Buffer.concat([first.nonce, second.nonce])
  const key = new Uint8Array(hkdfSync('sha256', secret, salt, 'mesh vpn key 1', 32))
  const mac = createHmac('sha256', key).update(frameTexts(VPN, from, to))
  return mac.update(first.publicKey).update(second.publicKey).digest()
}

const publicKeyOf = (raw: Uint8Array) =>
  createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' })

function readPaths(bytes: Uint8Array): ToldPaths {
  const fields = readFields(bytes)
  const candidates = (fields.get(3) ?? []).map((each) => {
    const candidate = readFields(each)
    const port = candidate.get(2)?.[0] ?? new Uint8Array(2)
    return { address: bytesOf(candidate, 1).join('.'), port: Buffer.from(port).readUIntBE(0, port.length) }
  })
  return { secret: bytesOf(fields, 1), token: bytesOf(fields, 2), candidates }
}

const bytesOf = (fields: ReadonlyMap<number, readonly Uint8Array[]>, number: number) =>
  fields.get(number)?.[0] ?? new Uint8Array()

/** All fields by their number; numbers as the bytes of a big-endian one. */
function readFields(bytes: Uint8Array): ReadonlyMap<number, readonly Uint8Array[]> {
  const fields = new Map<number, Uint8Array[]>()
  let at = 0
  const next = () => {
    let [value, factor] = [0, 1]
    for (;;) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * factor
      factor *= 0x80
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = next()
    const value = next()
    const isNumber = (tag & 7) === 0
    const number = Buffer.alloc(6)
    number.writeUIntBE(value, 0, 6)
    fields.set(tag >> 3, [
      ...(fields.get(tag >> 3) ?? []),
      isNumber ? number : bytes.subarray(at, at + value),
    ])
    if (!isNumber) at += value
  }
  return fields
}

const bytesField = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
const numberField = (number: number, value: number) => Buffer.concat([varint(number << 3), varint(value)])
