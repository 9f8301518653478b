/**
 * The messages of `/mesh/vpn/1` (docs/PROTOCOLS.md, 'VPN'). Each holds one of these:
 *
 * ```proto
 * message Control { Hello hello = 1; Proof proof = 2; Paths paths = 3; }
 * message Hello { bytes public_key = 1; bytes nonce = 2; uint32 mtu = 3; }
 * message Proof { bytes mac = 1; }
 * message Paths { bytes secret = 1; bytes token = 2; repeated Candidate candidates = 3; bool varies = 4; }
 * message Candidate { bytes address = 1; uint32 port = 2; bool seen = 3; bool mapped = 4; }
 * ```
 */
import type { Endpoint } from '@mesh/engine'
import { reader, writer } from 'protons-runtime'
import { addressBytes, addressOf } from './address-bytes.ts'
import { MAX_CANDIDATES } from './limits.ts'

/**
 * How an address was learnt. `own`: of an interface. `mapped`: a port that a router gave to the peer's socket. `seen`:
 * others saw the peer's socket there. `heard`: a probe of the peer came from there.
 */
export type CandidateKind = 'own' | 'mapped' | 'seen' | 'heard'

export interface Candidate {
  readonly endpoint: Endpoint
  readonly kind: CandidateKind
}

/** The first message, in which an end speaks of itself. Its lengths are not checked here. */
export interface HelloMessage {
  /** WireGuard's public key, 32 bytes in a message that is right. */
  readonly publicKey: Uint8Array
  readonly nonce: Uint8Array
  /** The longest packet that the sender's interface takes, in bytes. */
  readonly mtu: number
}

/** How the sender's socket can be reached, and what probes between the two need. Its lengths are not checked here. */
export interface PathsMessage {
  /** 32 bytes that this node and the peer share, for the keys of their probes. */
  readonly secret: Uint8Array
  /** 8 bytes by which the peer's probes name the two. */
  readonly token: Uint8Array
  readonly candidates: readonly Candidate[]
  /** Others see its socket at different ports: its NAT chooses one for each peer. */
  readonly varies: boolean
}

type ControlMessage =
  | { readonly kind: 'hello'; readonly hello: HelloMessage }
  | { readonly kind: 'proof'; readonly mac: Uint8Array }
  | { readonly kind: 'paths'; readonly paths: PathsMessage }
  /** The message holds fields of later versions only. */
  | { readonly kind: 'unknown' }

/** The tags of bytes and messages, and of numbers, by the fields' numbers. */
const [bytesTag, numberTag] = [(field: number) => (field << 3) | 2, (field: number) => field << 3]
const [HELLO_TAG, PROOF_TAG, PATHS_TAG] = [bytesTag(1), bytesTag(2), bytesTag(3)]
const [PUBLIC_KEY_TAG, NONCE_TAG, MTU_TAG] = [bytesTag(1), bytesTag(2), numberTag(3)]
const [SECRET_TAG, TOKEN_TAG, CANDIDATE_TAG, VARIES_TAG] = [
  bytesTag(1),
  bytesTag(2),
  bytesTag(3),
  numberTag(4),
]
const [ADDRESS_TAG, PORT_TAG, SEEN_TAG, MAPPED_TAG] = [bytesTag(1), numberTag(2), numberTag(3), numberTag(4)]
const MAC_TAG = bytesTag(1)

export function encodeHello({ publicKey, nonce, mtu }: HelloMessage): Uint8Array {
  const hello = writer().uint32(PUBLIC_KEY_TAG).bytes(publicKey).uint32(NONCE_TAG).bytes(nonce)
  return writer().uint32(HELLO_TAG).bytes(hello.uint32(MTU_TAG).uint32(mtu).finish()).finish()
}

export function encodeProof(mac: Uint8Array): Uint8Array {
  return writer().uint32(PROOF_TAG).bytes(writer().uint32(MAC_TAG).bytes(mac).finish()).finish()
}

export function encodePaths({ secret, token, candidates, varies }: PathsMessage): Uint8Array {
  const paths = writer().uint32(SECRET_TAG).bytes(secret).uint32(TOKEN_TAG).bytes(token)
  for (const { endpoint, kind } of candidates) {
    const candidate = writer().uint32(ADDRESS_TAG).bytes(addressBytes(endpoint.address))
    candidate.uint32(PORT_TAG).uint32(endpoint.port)
    candidate.uint32(SEEN_TAG).bool(kind !== 'own')
    if (kind === 'mapped') candidate.uint32(MAPPED_TAG).bool(true)
    paths.uint32(CANDIDATE_TAG).bytes(candidate.finish())
  }
  paths.uint32(VARIES_TAG).bool(varies)
  return writer().uint32(PATHS_TAG).bytes(paths.finish()).finish()
}

/** Undefined when the bytes are no such message, or hold two of them. */
export function decodeControl(bytes: Uint8Array): ControlMessage | undefined {
  const found: ControlMessage[] = []
  try {
    readFields(bytes, {
      [HELLO_TAG]: (input) => found.push({ kind: 'hello', hello: decodeHello(input.bytes()) }),
      [PROOF_TAG]: (input) => found.push({ kind: 'proof', mac: decodeMac(input.bytes()) }),
      [PATHS_TAG]: (input) => found.push({ kind: 'paths', paths: decodePaths(input.bytes()) }),
    })
    return found.length > 1 ? undefined : (found[0] ?? { kind: 'unknown' })
  } catch {
    return undefined
  }
}

type Input = ReturnType<typeof reader>

/** Gives each field to the function that has its tag; those of later versions are passed over. */
function readFields(bytes: Uint8Array, fields: Readonly<Record<number, (input: Input) => unknown>>): void {
  const input = reader(bytes)
  while (input.pos < input.len) {
    const tag = input.uint32()
    const read = fields[tag]
    if (read === undefined) input.skipType(tag & 7)
    else read(input)
  }
}

/** A copy, which does not keep the message. */
const copyIn = (input: Input) => Uint8Array.from(input.bytes())

function decodeHello(bytes: Uint8Array): HelloMessage {
  let [publicKey, nonce, mtu] = [new Uint8Array(), new Uint8Array(), 0]
  readFields(bytes, {
    [PUBLIC_KEY_TAG]: (input) => (publicKey = copyIn(input)),
    [NONCE_TAG]: (input) => (nonce = copyIn(input)),
    [MTU_TAG]: (input) => (mtu = input.uint32()),
  })
  return { publicKey, nonce, mtu }
}

function decodePaths(bytes: Uint8Array): PathsMessage {
  let [secret, token, varies] = [new Uint8Array(), new Uint8Array(), false]
  const candidates: Candidate[] = []
  readFields(bytes, {
    [SECRET_TAG]: (input) => (secret = copyIn(input)),
    [TOKEN_TAG]: (input) => (token = copyIn(input)),
    [VARIES_TAG]: (input) => (varies = input.bool()),
    [CANDIDATE_TAG]: (input) => {
      const candidate = input.bytes()
      if (candidates.length < MAX_CANDIDATES) candidates.push(...decodeCandidate(candidate))
    },
  })
  return { secret, token, candidates, varies }
}

/** None for an address that is none. */
function decodeCandidate(bytes: Uint8Array): readonly Candidate[] {
  let [address, port, seen, mapped] = [new Uint8Array(), 0, false, false]
  readFields(bytes, {
    [ADDRESS_TAG]: (input) => (address = copyIn(input)),
    [PORT_TAG]: (input) => (port = input.uint32()),
    [SEEN_TAG]: (input) => (seen = input.bool()),
    [MAPPED_TAG]: (input) => (mapped = input.bool()),
  })
  if ((address.length !== 4 && address.length !== 16) || port < 1 || port > 65_535) return []
  const kind = mapped ? 'mapped' : seen ? 'seen' : 'own'
  return [{ endpoint: { address: addressOf(address), port }, kind }]
}

function decodeMac(bytes: Uint8Array): Uint8Array {
  let mac = new Uint8Array()
  readFields(bytes, { [MAC_TAG]: (input) => (mac = copyIn(input)) })
  return mac
}
