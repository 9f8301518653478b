/**
 * Members tell each other, over `/mesh/peers/1`, how the members they are connected to can be reached: the addresses
 * that each of those signed itself. So one reachable bootstrap peer is enough for all behind it.
 * 1. identify brings a peer's signed record; the newest is kept while the peer is connected
 * 2. who does not have it yet is told, gathered over a moment, once the peer is a member
 * 3. what others tell is verified, cut to addresses that may be dialled, and handed to the dialler
 */
import type { IdentifyResult, Libp2p, Peer } from '@libp2p/interface'
import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import { type Clock, type Logger, type PeerId, toError, tryParsePeerId } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ipOf, isLoopbackIp } from '../addresses/address-rules.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import {
  EXCHANGE_BURST,
  EXCHANGE_DELAY_MS,
  EXCHANGE_GAP_MS,
  EXCHANGE_RETRY_MS,
  MAX_EXCHANGE_MESSAGE_BYTES,
  MAX_EXCHANGE_MESSAGES_PER_MINUTE,
  MAX_PEER_ADDRESSES,
  MAX_PEER_RECORD_BYTES,
  MAX_PEER_RECORDS,
  MAX_RECORDS_PER_MESSAGE,
} from '../limits.ts'
import type { Channel, Channels } from '../p2p-node.ts'
import { PEERS_PROTOCOL } from '../protocols.ts'
import type { Find } from './find.ts'
import { decodePeers, encodePeers } from './peers-message.ts'

export interface PeerExchangeInit {
  readonly host: Libp2p
  readonly channels: Channels
  readonly isMember: (peer: string) => boolean
  /** Tells each peer that becomes a member, which may be long after it connected. */
  readonly onMember: (listener: (peer: PeerId) => void) => () => void
  /** UDP port on which this node answers STUN; 0 when it does not. */
  readonly stunPort: () => number
  /** What this node is called; members alone are told, and strangers, as in the public DHT, never. */
  readonly name: string | undefined
  readonly found: (find: Find) => void
  /** A member answers STUN on this port of the address we reach it at. */
  readonly onStunPort: (peer: string, port: number) => void
  /** A member says what it is called. */
  readonly onName: (peer: string, name: string) => void
  readonly onRefused: (
    code: 'peers.bad_message' | 'peers.bad_record' | 'peers.too_many',
    peer: string,
  ) => void
}

export interface PeerExchange {
  /** Tells every member what changed about this node itself. */
  announceSelf(): void
  stop(): void
}

interface KnownRecord {
  readonly seq: bigint
  readonly envelope: Uint8Array
  /** What it says, to tell news from a record that was only signed again. */
  readonly says: string
}

interface Link {
  readonly channel: Channel
  /** What the other end knows, by subject. */
  readonly has: Map<string, string>
  cancel: (() => void) | undefined
  lastSent: number
  sent: number
  greeted: boolean
}

const OPTIONS = { maxMessageBytes: MAX_EXCHANGE_MESSAGE_BYTES, maxPerPeer: 2 }

export async function startPeerExchange(
  init: PeerExchangeInit,
  components: { readonly clock: Clock; readonly logger: Logger },
): Promise<PeerExchange> {
  const { host, channels, isMember } = init
  const { clock } = components
  const log = components.logger.child('peers')
  const self = host.peerId.toString()
  const records = new Map<string, KnownRecord>()
  const links = new Map<string, Link>()
  const stopped = new AbortController()

  function keep(subject: string, envelope: Uint8Array): void {
    if (envelope.length > MAX_PEER_RECORD_BYTES) return
    const record = PeerRecord.createFromProtobuf(RecordEnvelope.createFromProtobuf(envelope).payload)
    const known = records.get(subject)
    if (known !== undefined && known.seq >= record.seqNumber) return
    if (known === undefined && records.size >= MAX_PEER_RECORDS) return
    records.set(subject, { seq: record.seqNumber, envelope, says: record.multiaddrs.join(' ') })
    for (const link of links.values()) sendSoon(link)
  }

  /** Until now its record was held back from the others. */
  const onMember = (peer: PeerId) => {
    if (records.has(peer)) for (const link of links.values()) sendSoon(link)
  }

  const learn = ({ id, peerRecordEnvelope }: Peer) => {
    const subject = id.toString()
    if (subject === self || peerRecordEnvelope === undefined || connectionsTo(host, subject).length === 0)
      return
    keep(subject, peerRecordEnvelope)
  }
  const onPeer = (event: CustomEvent<{ peer: Peer }>) => learn(event.detail.peer)
  /** Who comes back with the record that the peer store has changes nothing there. */
  const onIdentify = ({ detail: { peerId } }: CustomEvent<IdentifyResult>) => {
    if (records.has(peerId.toString())) return
    host.peerStore.get(peerId).then(learn, (error: unknown) => {
      log.debug('identified peer is not in the peer store', { peer: peerId.toString(), error: String(error) })
    })
  }
  const onDisconnect = (event: CustomEvent<{ toString(): string }>) => {
    records.delete(event.detail.toString())
  }

  function sendSoon(link: Link): void {
    if (link.cancel !== undefined) return
    const gap = link.sent < EXCHANGE_BURST ? EXCHANGE_DELAY_MS : EXCHANGE_GAP_MS
    const wait = Math.max(EXCHANGE_DELAY_MS, link.lastSent + gap - clock.now())
    link.cancel = clock.after(link.greeted ? wait : 0, () => {
      link.cancel = undefined
      send(link).catch((error: unknown) => link.channel.abort(toError(error)))
    })
  }

  async function send(link: Link): Promise<void> {
    const news: Uint8Array[] = []
    for (const [subject, { envelope, says }] of records) {
      if (subject === link.channel.peer || !isMember(subject) || link.has.get(subject) === says) continue
      link.has.set(subject, says)
      news.push(envelope)
      if (news.length === MAX_RECORDS_PER_MESSAGE) break
    }
    if (news.length === 0 && link.greeted) return
    const name = link.greeted ? undefined : init.name
    link.greeted = true
    link.lastSent = clock.now()
    link.sent++
    await link.channel.send(encodePeers({ records: news, stunPort: init.stunPort(), name }))
    if (news.length === MAX_RECORDS_PER_MESSAGE) sendSoon(link)
  }

  async function run(channel: Channel): Promise<void> {
    const link: Link = { channel, has: new Map(), cancel: undefined, lastSent: 0, sent: 0, greeted: false }
    links.get(channel.peer)?.channel.abort(new Error('replaced by a newer channel'))
    links.set(channel.peer, link)
    sendSoon(link)
    const allowance = createAllowance(clock)
    try {
      for await (const bytes of channel.messages()) {
        if (!allowance()) {
          init.onRefused('peers.too_many', channel.peer)
          continue
        }
        await receive(link, bytes)
      }
      await channel.close()
    } finally {
      link.cancel?.()
      if (links.get(channel.peer) === link) links.delete(channel.peer)
    }
  }

  async function receive(link: Link, bytes: Uint8Array): Promise<void> {
    const { peer } = link.channel
    const message = decodePeers(bytes)
    if (message === undefined) return init.onRefused('peers.bad_message', peer)
    init.onStunPort(peer, message.stunPort)
    if (message.name !== undefined) init.onName(peer, message.name)
    const sameHost = isSameHost(host, peer)
    for (const envelope of message.records) {
      const record = await verify(envelope)
      if (record === undefined) {
        init.onRefused('peers.bad_record', peer)
        continue
      }
      const subject = record.peerId.toString()
      if (link.has.size < MAX_PEER_RECORDS) link.has.set(subject, record.multiaddrs.join(' '))
      if (subject === self || tryParsePeerId(subject) === undefined) continue
      const addresses = usable(record.multiaddrs, { self, sameHost })
      if (addresses.length > 0) init.found({ peer: subject, addresses })
    }
  }

  function reach(peer: PeerId): void {
    // the smaller id opens: one channel serves both directions
    if (self > peer || links.has(peer) || stopped.signal.aborted) return
    channels
      .open(peer, PEERS_PROTOCOL, { ...OPTIONS, signal: stopped.signal })
      .then(run)
      .catch((error: unknown) => {
        log.debug('peers not exchanged', { peer, reason: String(error) })
        clock.after(EXCHANGE_RETRY_MS, () => {
          if (channels.peersWith(PEERS_PROTOCOL).includes(peer)) reach(peer)
        })
      })
  }

  host.addEventListener('peer:update', onPeer)
  host.addEventListener('peer:identify', onIdentify)
  host.addEventListener('peer:disconnect', onDisconnect)
  await channels.handle(PEERS_PROTOCOL, OPTIONS, run)
  const stopMembers = init.onMember(onMember)
  const unsubscribe = channels.onPeerWith(PEERS_PROTOCOL, (peer, present) => {
    if (present) reach(peer)
  })
  for (const peer of channels.peersWith(PEERS_PROTOCOL)) reach(peer)

  return {
    announceSelf() {
      for (const link of links.values()) {
        link.greeted = false
        sendSoon(link)
      }
    },
    stop() {
      stopped.abort(new Error('stopped'))
      host.removeEventListener('peer:update', onPeer)
      host.removeEventListener('peer:identify', onIdentify)
      host.removeEventListener('peer:disconnect', onDisconnect)
      unsubscribe()
      stopMembers()
      for (const link of links.values()) {
        link.cancel?.()
        link.channel.abort(new Error('stopped'))
      }
      links.clear()
      records.clear()
    },
  }
}

async function verify(envelope: Uint8Array): Promise<PeerRecord | undefined> {
  try {
    const opened = await RecordEnvelope.openAndCertify(envelope, PeerRecord.DOMAIN)
    const record = PeerRecord.createFromProtobuf(opened.payload)
    return record.peerId.publicKey?.equals(opened.publicKey) === true ? record : undefined
  } catch {
    return undefined
  }
}

/** Loopback means something on the same machine only, and a circuit over ourselves leads nowhere. */
function usable(
  addresses: readonly Multiaddr[],
  { self, sameHost }: { readonly self: string; readonly sameHost: boolean },
): readonly Multiaddr[] {
  return addresses
    .filter((address) => {
      const ip = ipOf(address)
      return (sameHost || ip === undefined || !isLoopbackIp(ip)) && !address.toString().includes(self)
    })
    .slice(0, MAX_PEER_ADDRESSES)
}

/** Connected over loopback, or over one address at both ends. */
function isSameHost(host: Libp2p, peer: string): boolean {
  const own = new Set(host.getMultiaddrs().map(ipOf))
  return connectionsTo(host, peer).some(({ remoteAddr, direct }) => {
    const ip = ipOf(remoteAddr)
    return direct && (ip === undefined || isLoopbackIp(ip) || own.has(ip))
  })
}

/** True for as many calls a minute as one peer's messages may be. */
function createAllowance(clock: Clock): () => boolean {
  let since = clock.now()
  let used = 0
  return () => {
    if (clock.now() - since >= 60_000) [since, used] = [clock.now(), 0]
    return ++used <= MAX_EXCHANGE_MESSAGES_PER_MINUTE
  }
}
