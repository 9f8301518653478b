/** What members say of themselves and to each other: records of the ledger, the VPN's control, services, files, trust. */
import { parseProviderKey, parsePeerId, systemClock } from '@mesh/core'
import type { Entry, Snapshot } from '@mesh/ledger'
import { parseEndpoint } from '../../../packages/services/src/streams/endpoint.ts'
import { decodeFileMessage, encodeFileMessage } from '../../../packages/services/src/files/file-message.ts'
import { readGreeting, readRequest } from '../../../packages/services/src/proxy/socks5.ts'
import { createFrameReader, encodeFrame } from '../../../packages/services/src/streams/frames.ts'
import {
  decodeAnswer,
  decodeEgressRequest,
  decodeServiceRequest,
  encodeAnswer,
  encodeEgressRequest,
  encodeServiceRequest,
} from '../../../packages/services/src/wire/messages.ts'
import * as dns from '../../../packages/dns/src/zone/read-entries.ts'
import { checkPolicy } from '../../../packages/trust/src/rules/check-policy.ts'
import { writePolicy } from '../../../packages/trust/src/administration/policy-statement.ts'
import { applyPolicy, POLICY } from './policy.ts'
import { formatInviteCode, parseInviteCode } from '../../../packages/trust/src/administration/invite-code.ts'
import {
  readStatement,
  writeClaim,
  writeInvite,
  writeMember,
  type Writing,
} from '../../../packages/trust/src/administration/statements.ts'
import { decodeTrustMessage, encodeTrustMessage } from '../../../packages/trust/src/exchange/trust-message.ts'
import { readAuthKeys } from '../../../packages/trust/src/gate/auth-keys.ts'
import { parseGuardAuth } from '../../../packages/trust/src/gate/guard-auth.ts'
import { readTrustList } from '../../../packages/trust/src/gate/trust-list.ts'
import { ChallengeVerifier, signChallenge } from '../../../packages/trust/src/legacy/challenge.ts'
import {
  generateEcdsaKey,
  tryParsePrivateKey,
  tryParsePublicKey,
} from '../../../packages/trust/src/legacy/ecdsa-keys.ts'
import { CHALLENGE_TEXT } from '../../../packages/trust/src/limits.ts'
import { readUsed } from '../../../packages/vpn/src/addresses/machines-bucket.ts'
import { readLeader, readWaiting } from '../../../packages/vpn/src/addresses/dhcp-bucket.ts'
import { createPacketGatherer } from '../../../packages/vpn/src/legacy/split-packets.ts'
import { decodeProbe, encodeProbe, probeToken } from '../../../packages/vpn/src/paths/probe-message.ts'
import * as vpn from '../../../packages/vpn/src/addresses/read-entry.ts'
import {
  decodeControl,
  encodeHello,
  encodePaths,
  encodeProof,
} from '../../../packages/vpn/src/wire/control-message.ts'
import { parseIp } from '@mesh/core'
import { type Decoder, textOf, textSeeds } from '../decoder.ts'

const key = new Uint8Array(32).fill(7)
const PEER = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const NETWORK = 'a3aef9821d7c70a7dfd6'
/** Hashes of entries that a revocation leaves. */
const KEPT: ReadonlySet<string> = new Set(['00'.repeat(16), 'a7'.repeat(16)])
const endpoint = { address: parseIp('192.0.2.1'), port: 51_820 }
const PING = { kind: 'ping', nonce: 1n, length: 1_280, epoch: 2 } as const
const probe = { token: key.subarray(0, 8), key }
const ECDSA = generateEcdsaKey()
const publicKey = tryParsePublicKey(ECDSA.publicKey)
const privateKey = tryParsePrivateKey(ECDSA.privateKey)
const challenge = privateKey === undefined ? '' : signChallenge(privateKey)

/** A record as it stands in the ledger: its key, a newline, its value. */
const record = (name: string, value: unknown) => `${name}\n${JSON.stringify(value)}`
const written = ({ key: name, valueText }: Writing) => `${name}\n${valueText}`
const MACHINE = {
  PeerID: PEER,
  Hostname: 'nas',
  OS: 'linux',
  Arch: 'amd64',
  Address: '10.1.0.11',
  Version: '1',
}

/** Gives the key and the entry of a record. */
function entryOf(bytes: Uint8Array): { readonly name: string; readonly entry: Entry } {
  const text = textOf(bytes)
  const end = text.indexOf('\n')
  const entry = {
    value: text.slice(end + 1),
    owner: PEER,
    version: 1n,
    updatedAt: 1,
    deleted: false,
    sig: null,
  }
  return { name: text.slice(0, Math.max(0, end)), entry }
}

/** A ledger in which this stands in every bucket. */
function snapshotOf(bytes: Uint8Array): Snapshot {
  const { name, entry } = entryOf(bytes)
  const keyed = (bucket: string) => [{ bucket, key: name, entry }]
  return { entries: keyed, getLive: () => entry } as Partial<Snapshot> as Snapshot
}

const RECORDS: readonly Decoder[] = [
  {
    name: 'lease-records',
    form: 'json',
    seeds: textSeeds(
      record('10.1.0.11', MACHINE),
      record('leader', PEER),
      record(PEER, '2026-01-01T00:00:00Z'),
    ),
    decode(bytes) {
      const snapshot = snapshotOf(bytes)
      readUsed(snapshot)
      readLeader(snapshot)
      readWaiting(snapshot, 1_790_000_000_000)
    },
  },
  {
    name: 'trust-records',
    form: 'json',
    seeds: textSeeds(record(PEER, ''), record('my_ecdsa_1', ECDSA.publicKey)),
    decode(bytes) {
      const snapshot = snapshotOf(bytes)
      readTrustList(snapshot, { self: PEER, strict: true })
      readAuthKeys(snapshot)
    },
  },
  {
    name: 'machine-record',
    form: 'json',
    seeds: textSeeds(record('10.1.0.11', MACHINE), record('fd00::11', { ...MACHINE, Leased: true })),
    decode(bytes) {
      const { name, entry } = entryOf(bytes)
      vpn.readMachine(name, entry)
      dns.readMachine(name, entry, 'enforce')
    },
  },
  {
    name: 'route-record',
    form: 'json',
    seeds: textSeeds(record('10.2.0.0/16', { PeerID: PEER, Metric: 100 })),
    decode(bytes) {
      const { name, entry } = entryOf(bytes)
      vpn.readRoute(name, entry)
    },
  },
  {
    name: 'dns-record',
    form: 'json',
    seeds: textSeeds(
      record('git', { 1: '10.1.0.5', 16: '"text"', 15: '10 mx.mesh.' }),
      record('web', { PeerID: PEER, Name: 'web' }),
    ),
    decode(bytes) {
      const { entry } = entryOf(bytes)
      dns.readRecords(entry)
      // what was read of an entry is kept by its identity
      dns.readService({ ...entry }, 'enforce')
    },
  },
  {
    name: 'trust-statement',
    form: 'json',
    seeds: textSeeds(
      written(
        writeMember(NETWORK, { admin: PEER, peer: PEER, state: 'revoked', use: undefined, kept: KEPT }),
      ),
      written(
        writeMember(NETWORK, {
          admin: PEER,
          peer: PEER,
          state: 'admitted',
          use: { invite: PEER, at: 1_790_000_000_000 },
          until: 1_790_000_000_000,
        }),
      ),
      written(
        writeInvite(NETWORK, {
          admin: PEER,
          invite: PEER,
          expiresAt: 1_790_000_000_000,
          state: 'open',
          label: 'a',
          memberForMs: 60_000,
        }),
      ),
      written(writeClaim(NETWORK, { invite: PEER, peer: PEER, sig: new Uint8Array(64) })),
      written(
        writePolicy(NETWORK, {
          admin: PEER,
          serial: 7,
          signedAt: 0,
          policy: POLICY,
          names: { [PEER]: 'nas' },
        }),
      ),
    ),
    decode(bytes) {
      const { name, entry } = entryOf(bytes)
      parseProviderKey(name)
      const statement = readStatement({ network: NETWORK, checkPolicy }, name, entry.value)
      // what is a policy can be judged and compiled
      if (statement?.kind === 'rules') applyPolicy(statement.policy)
    },
  },
]

const VPN: readonly Decoder[] = [
  {
    name: 'vpn-control',
    form: 'protobuf',
    seeds: [
      encodeHello({ publicKey: key, nonce: key, mtu: 1_420 }),
      encodeProof(key),
      encodePaths({
        secret: key,
        token: key.subarray(0, 8),
        candidates: [
          { endpoint, kind: 'own' },
          { endpoint, kind: 'seen' },
        ],
        varies: true,
      }),
    ],
    decode: decodeControl,
  },
  {
    name: 'vpn-probe',
    form: 'bytes',
    seeds: [
      encodeProbe(PING, probe),
      encodeProbe({ kind: 'pong', nonce: 1n, length: 1_280, observed: endpoint }, probe),
    ],
    decode(bytes) {
      if (probeToken(bytes) !== undefined) decodeProbe(bytes.subarray(0, 64), bytes.length, key)
    },
  },
  {
    name: 'legacy-packets',
    form: 'bytes',
    seeds: [Buffer.from('4500001c00000000400100000a0100010a01000200000000', 'hex'), new Uint8Array(60)],
    decode(bytes) {
      const gatherer = createPacketGatherer(() => {})
      for (let at = 0; at < bytes.length && gatherer.push(bytes.subarray(at, at + 11)); at += 11);
    },
  },
]

const SERVICES: readonly Decoder[] = [
  {
    name: 'service-request',
    form: 'protobuf',
    seeds: [
      encodeServiceRequest({ name: 'web', kind: 'stream', entries: key }),
      encodeEgressRequest({ host: 'example.org', port: 443, entries: key }),
      encodeAnswer('ok', 'reason'),
    ],
    decode(bytes) {
      decodeServiceRequest(bytes)
      decodeEgressRequest(bytes)
      decodeAnswer(bytes)
    },
  },
  {
    name: 'service-frames',
    form: 'bytes',
    seeds: [Buffer.concat([encodeFrame(key), encodeFrame(new Uint8Array(300))])],
    decode(bytes) {
      const push = createFrameReader(4_096, () => {})
      for (let at = 0; at < bytes.length && push(bytes.subarray(at, at + 13)); at += 13);
    },
  },
  {
    name: 'file-transfer',
    form: 'protobuf',
    seeds: [
      encodeFileMessage({ type: 'request', name: 'photos', entries: key, anyNames: true }),
      encodeFileMessage({
        type: 'offer',
        name: 'photos',
        isFolder: true,
        entryCount: 2,
        leftOut: { count: 2, names: ['latest: a link'] },
      }),
      encodeFileMessage({
        type: 'entries',
        entries: [{ path: 'a/b.jpg', isFolder: false, size: 9, modifiedMs: 1, isExecutable: false }],
      }),
      encodeFileMessage({ type: 'refusal', code: 1, reason: 'no' }),
      encodeFileMessage({ type: 'want', index: 1, offset: 5, sha256: key }),
      encodeFileMessage({ type: 'begin', index: 1, offset: 5 }),
      encodeFileMessage({ type: 'data', bytes: key }),
      encodeFileMessage({ type: 'end', index: 1, sha256: key, hasChanged: false }),
    ],
    decode: decodeFileMessage,
  },
  {
    name: 'socks5',
    form: 'bytes',
    seeds: [Uint8Array.of(5, 1, 0), Buffer.from('050100030b6578616d706c652e6f726701bb', 'hex')],
    decode(bytes) {
      readGreeting(bytes)
      readRequest(bytes)
    },
  },
  {
    name: 'service-address',
    form: 'text',
    seeds: textSeeds('127.0.0.1:22', 'udp:[::1]:53', 'unix:/run/a.sock', ':80'),
    mayRefuse: true,
    decode: (bytes) => parseEndpoint(textOf(bytes)),
  },
]

const TRUST: readonly Decoder[] = [
  {
    name: 'trust-message',
    form: 'protobuf',
    seeds: [
      encodeTrustMessage({ kind: 'nonce', nonce: key }),
      encodeTrustMessage({ kind: 'answer', timeMs: 1_790_000_000_000, signature: key }),
      encodeTrustMessage({ kind: 'digest', digest: key }),
      encodeTrustMessage({ kind: 'entries', block: Buffer.from('{"Index":0}') }),
      encodeTrustMessage({ kind: 'done' }),
    ],
    decode: decodeTrustMessage,
  },
  {
    name: 'challenge',
    form: 'text',
    seeds: textSeeds(challenge),
    decode: (bytes) =>
      new ChallengeVerifier(systemClock).refusal(
        { author: PEER, text: CHALLENGE_TEXT, signature: textOf(bytes) },
        publicKey === undefined ? [] : [publicKey],
        AbortSignal.timeout(60_000),
      ),
  },
  {
    name: 'trust-keys',
    form: 'text',
    seeds: textSeeds(ECDSA.publicKey, ECDSA.privateKey),
    decode(bytes) {
      tryParsePublicKey(textOf(bytes))
      tryParsePrivateKey(textOf(bytes))
    },
  },
  {
    name: 'guard-key',
    form: 'text',
    seeds: textSeeds(Buffer.from(ECDSA.privateKey).toString('base64')),
    mayRefuse: true,
    decode: (bytes) => parseGuardAuth(textOf(bytes)),
  },
  {
    name: 'invite',
    form: 'text',
    seeds: textSeeds(formatInviteCode(key)),
    mayRefuse: true,
    decode: (bytes) => parseInviteCode(textOf(bytes)),
  },
]

export const MEMBER_DECODERS: readonly Decoder[] = [...RECORDS, ...VPN, ...SERVICES, ...TRUST]
