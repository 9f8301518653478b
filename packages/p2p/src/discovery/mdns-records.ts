/**
 * Packets by which nodes of one network tell of themselves by mDNS (docs/WIRE.md 2.2; RFC 6762). Legacy
 * readers drop an instance without SRV and a host address in the same packet, and keep only the last TXT
 * record.
 */
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { decode, type DecodedPacket, encode } from 'dns-packet'
import { isRelayed, peerIn, transportOf } from '../addresses/address-rules.ts'
import { MAX_MDNS_PACKET_BYTES, MAX_MDNS_RECORDS } from './limits.ts'
import { MAX_PEER_ADDRESSES } from '../limits.ts'
import type { Find } from './find.ts'

interface Announcement {
  /** Single label of mixed case, compared exactly; empty: libp2p's shared name. */
  readonly service: string
  /** Random label that stands for this node as long as it runs. */
  readonly instance: string
  /** Dialable addresses, each with `/p2p/`. */
  readonly addresses: readonly string[]
  /** The sender's own address on the link; readers want one in the packet. */
  readonly host: { readonly family: 4 | 6; readonly address: string }
  /** Default 120 s; 0 says goodbye. */
  readonly ttl?: number
}

/** The time for which the answer holds, in seconds. */
const DEFAULT_TTL = 120
/** The SRV record's port, which all readers ignore, as the addresses carry their own; legacy nodes say 4001. */
const IGNORED_PORT = 4001
/** The most bytes of addresses, so that they fit one Ethernet frame with the other records. */
const MAX_TXT_BYTES = 1_000
const DNSADDR = 'dnsaddr='
const HEADER_BYTES = 12
const RESPONSE_FLAG = 0x80
const OPCODE_MASK = 0x78
const AUTHORITATIVE = 1 << 10

function serviceName(mdns: string): string {
  return mdns === '' ? '_p2p._udp.local' : `${mdns}.local`
}

export function buildQuery(mdns: string): Uint8Array {
  return encode({ type: 'query', questions: [{ name: serviceName(mdns), type: 'PTR', class: 'IN' }] })
}

export function buildAnswer(init: Announcement): Uint8Array {
  const { instance, host, ttl = DEFAULT_TTL } = init
  const name = serviceName(init.service)
  const full = `${instance}.${name}`
  const target = `${instance}.local`
  return encode({
    type: 'response',
    flags: AUTHORITATIVE,
    answers: [{ name, type: 'PTR', ttl, data: full }],
    additionals: [
      { name: full, type: 'SRV', ttl, data: { port: IGNORED_PORT, target, priority: 0, weight: 0 } },
      { name: full, type: 'TXT', ttl, data: addressTexts(init.addresses) },
      { name: target, type: host.family === 4 ? 'A' : 'AAAA', ttl, data: host.address },
    ],
  })
}

/** Tells what a packet means for us; undefined for all that is not about our service, or is malformed. */
export function readPacket(
  bytes: Uint8Array,
  mdns: string,
): { readonly kind: 'query' } | { readonly kind: 'answer'; readonly finds: readonly Find[] } | undefined {
  if (!isSane(bytes)) return undefined
  let packet: DecodedPacket
  try {
    packet = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  } catch {
    return undefined
  }
  const name = serviceName(mdns)
  if (packet.type === 'query') {
    const asked = packet.questions?.some((question) => question.name === name && question.type === 'PTR')
    return asked === true ? { kind: 'query' } : undefined
  }
  const finds: Find[] = []
  for (const record of [...(packet.answers ?? []), ...(packet.additionals ?? [])]) {
    if (record.type !== 'TXT' || record.ttl === 0 || !record.name.endsWith(`.${name}`)) continue
    finds.push(...findsIn(record.data))
  }
  return { kind: 'answer', finds }
}

/** Reads the header only: a decoder would believe counts that no packet of this size can hold. */
function isSane(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES || bytes.length > MAX_MDNS_PACKET_BYTES) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (((bytes[2] ?? 0) & OPCODE_MASK) !== 0) return false
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => view.getUint16(at))
  const records = (answers ?? 0) + (authorities ?? 0) + (additionals ?? 0)
  const isResponse = ((bytes[2] ?? 0) & RESPONSE_FLAG) !== 0
  return (questions ?? 0) <= (isResponse ? 4 : 32) && records <= MAX_MDNS_RECORDS
}

/** Chooses TCP and QUIC addresses, as legacy nodes do: readers on the link need no relay, and browsers do no mDNS. */
function addressTexts(addresses: readonly string[]): string[] {
  const texts: string[] = []
  let left = MAX_TXT_BYTES
  for (const address of addresses) {
    const parsed = multiaddr(address)
    const transport = transportOf(parsed)
    if (isRelayed(parsed) || (transport !== 'tcp' && transport !== 'quic-v1')) continue
    const text = DNSADDR + address
    if (text.length > 255 || text.length + 1 > left) continue
    left -= text.length + 1
    texts.push(text)
  }
  return texts
}

function findsIn(txt: unknown): Find[] {
  const byPeer = new Map<string, Multiaddr[]>()
  const strings = Array.isArray(txt) ? txt : [txt]
  for (const text of strings.slice(0, MAX_PEER_ADDRESSES).map(String)) {
    if (!text.startsWith(DNSADDR)) continue
    try {
      const address = multiaddr(text.slice(DNSADDR.length))
      const peer = peerIn(address)
      if (peer !== undefined) byPeer.set(peer, [...(byPeer.get(peer) ?? []), address])
    } catch {
      // not an address: the rest of the record may still be good
    }
  }
  return [...byPeer].map(([peer, addresses]) => ({ peer, addresses }))
}
