/**
 * Members tell each other, over `/mesh/peers/1`, how the members they are connected to can be reached: the addresses
 * that each of those signed itself (docs/PROTOCOLS.md, 'Peers: `/mesh/peers/1`'). So one reachable bootstrap peer is
 * enough for all behind it.
 * 1. identify brings a peer's signed record; the newest is kept while the peer is connected
 * 2. who does not have it yet is told, gathered over a moment, once the peer is a member
 * 3. what others tell is verified, cut to addresses that may be dialled, and handed on as a find
 */
import type { IdentifyResult, Libp2p, Peer } from '@libp2p/interface'
import { BoundedMap, type Clock, type Logger, type PeerId, tryParsePeerId } from '@mesh/core'
import { createTokenBucket, loopBudget } from '@mesh/core/limits'
import { connectionsTo, isSameHost } from '../libp2p/connections.ts'
import { addressGroupOf } from '../addresses/address-group.ts'
import { createAddressRate } from '../addresses/address-rate.ts'
import { usableAddresses } from '../addresses/usable-addresses.ts'
import {
  EXCHANGE_RETRY_MS,
  MAX_EXCHANGE_MESSAGES_PER_MINUTE,
  MAX_EXCHANGE_MESSAGE_BYTES,
  MAX_PEER_RECORDS,
  NEW_RECORDS,
} from './limits.ts'
import { MAX_KNOWN_PEERS } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { RefusalCode } from '../p2p-error.ts'
import type { Channel, Channels } from '../p2p-node.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import { PEERS_PROTOCOL } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import { ExchangeChannel } from './exchange-channel.ts'
import type { Find } from './find.ts'
import { isSigned, PeerRecords, readRecord } from './peer-records.ts'
import { decodePeers } from './peers-message.ts'

interface PeerExchangeInit {
  readonly host: Libp2p
  readonly channels: Channels
  readonly membership: Pick<Membership, 'isMember' | 'onMember'>
  readonly book: Pick<PeerBook, 'noteName'>
  readonly refusals: Pick<Refusals, 'refuse'>
  /** The name of this node; members alone are told, and strangers, as in the public DHT, never. */
  readonly name: string | undefined
  readonly found: (find: Find) => void
}

interface PeerExchangeComponents {
  readonly clock: Clock
  readonly logger: Logger
}

const OPTIONS = { maxMessageBytes: MAX_EXCHANGE_MESSAGE_BYTES, maxPerPeer: 2 }

export class PeerExchange {
  /** The UDP ports of the members that answer STUN where they are reached, by peer. */
  readonly stunPorts = new Map<string, number>()
  /** The UDP port on which this node answers STUN; 0 when it does not. */
  #stunPort = 0
  readonly #init: PeerExchangeInit
  readonly #clock: Clock
  readonly #log: Logger
  readonly #self: string
  readonly #records = new PeerRecords()
  /** Digests that verified, by subject: several members tell the same, and each check costs. */
  readonly #verified = new BoundedMap<string, string>(MAX_PEER_RECORDS)
  readonly #mayTellNew: ReturnType<typeof createAddressRate>
  readonly #channels = new Map<string, ExchangeChannel>()
  readonly #stopped = new AbortController()
  #stopListening = () => {}

  constructor(init: PeerExchangeInit, { clock, logger }: PeerExchangeComponents) {
    this.#init = init
    this.#clock = clock
    this.#log = logger.child('peers')
    this.#self = init.host.peerId.toString()
    this.#mayTellNew = createAddressRate(NEW_RECORDS, clock)
  }

  /** Starts exchanging with every member that is connected or comes. */
  async start(): Promise<void> {
    const { host, channels, membership } = this.#init
    host.addEventListener('peer:update', this.#onPeer)
    host.addEventListener('peer:identify', this.#onIdentify)
    host.addEventListener('peer:disconnect', this.#onDisconnect)
    await channels.handle(PEERS_PROTOCOL, OPTIONS, (channel) => this.#run(channel))
    const stopMembers = membership.onMember(this.#onMember)
    const stopPresence = channels.onPeerWith(PEERS_PROTOCOL, (peer, present) => {
      if (present) this.#open(peer)
    })
    this.#stopListening = () => {
      stopMembers()
      stopPresence()
    }
    for (const peer of channels.peersWith(PEERS_PROTOCOL)) this.#open(peer)
  }

  /** Tells members that this node answers STUN on a port. */
  setStunPort(port: number): void {
    this.#stunPort = port
    for (const channel of this.#channels.values()) channel.greetAgain()
  }

  stop(): void {
    const { host } = this.#init
    this.#stopped.abort(new Error('stopped'))
    host.removeEventListener('peer:update', this.#onPeer)
    host.removeEventListener('peer:identify', this.#onIdentify)
    host.removeEventListener('peer:disconnect', this.#onDisconnect)
    this.#stopListening()
    for (const own of this.#channels.values()) {
      own.cancel()
      own.channel.abort(new Error('stopped'))
    }
    this.#channels.clear()
    this.#records.clear()
  }

  // records of connected peers

  readonly #learn = ({ id, peerRecordEnvelope }: Peer): void => {
    const subject = id.toString()
    if (subject === this.#self || peerRecordEnvelope === undefined) return
    if (connectionsTo(this.#init.host, subject).length === 0) return
    if (this.#records.keep(subject, peerRecordEnvelope, this.#clock.now())) this.#sendSoon()
  }

  readonly #onPeer = (event: CustomEvent<{ peer: Peer }>): void => this.#learn(event.detail.peer)

  /** A peer that comes back with the record that the peer store has changes nothing there. */
  readonly #onIdentify = ({ detail: { peerId } }: CustomEvent<IdentifyResult>): void => {
    const peer = peerId.toString()
    if (this.#records.has(peer)) return
    this.#init.host.peerStore.get(peerId).then(this.#learn, (error: unknown) => {
      this.#log.debug('identified peer is not in the peer store', { peer, error: String(error) })
    })
  }

  readonly #onDisconnect = (event: CustomEvent<{ toString(): string }>): void => {
    this.#records.forget(event.detail.toString())
  }

  /** Passes on the record of a peer that became a member; until then it was held back from the others. */
  readonly #onMember = (peer: PeerId): void => {
    if (this.#records.has(peer)) this.#sendSoon()
  }

  #sendSoon(): void {
    for (const channel of this.#channels.values()) channel.sendSoon()
  }

  // channels to members

  #open(peer: PeerId): void {
    // the smaller id opens: one channel serves both directions
    if (this.#self > peer || this.#channels.has(peer) || this.#stopped.signal.aborted) return
    const { channels } = this.#init
    channels
      .open(peer, PEERS_PROTOCOL, { ...OPTIONS, signal: this.#stopped.signal })
      .then((channel) => this.#run(channel))
      .catch((error: unknown) => {
        this.#log.debug('peers not exchanged', { peer, reason: String(error) })
        this.#clock.after(EXCHANGE_RETRY_MS, () => {
          if (channels.peersWith(PEERS_PROTOCOL).includes(peer)) this.#open(peer)
        })
      })
  }

  async #run(channel: Channel): Promise<void> {
    const { membership, name } = this.#init
    const own = new ExchangeChannel(channel, {
      records: this.#records,
      isMember: (peer) => membership.isMember(peer),
      stunPort: () => this.#stunPort,
      name,
      clock: this.#clock,
    })
    this.#channels.get(channel.peer)?.channel.abort(new Error('replaced by a newer channel'))
    this.#channels.set(channel.peer, own)
    own.sendSoon()
    // once: it looks at all of this machine's interfaces, and as many messages come as there are peers
    const sameHost = isSameHost(this.#init.host, channel.peer)
    const rate = { perSecond: MAX_EXCHANGE_MESSAGES_PER_MINUTE / 60, burst: MAX_EXCHANGE_MESSAGES_PER_MINUTE }
    const allowance = createTokenBucket(rate, this.#clock)
    try {
      for await (const bytes of channel.messages()) {
        if (allowance.take()) await this.#receive(own, bytes, sameHost)
        else this.#refuse('peers.too_many', channel.peer)
      }
      await channel.close()
    } finally {
      own.cancel()
      if (this.#channels.get(channel.peer) === own) this.#channels.delete(channel.peer)
    }
  }

  async #receive(own: ExchangeChannel, bytes: Uint8Array, sameHost: boolean): Promise<void> {
    const { host, book, found } = this.#init
    const { peer } = own.channel
    const message = decodePeers(bytes)
    if (message === undefined) return this.#refuse('peers.bad_message', peer)
    this.#noteStunPort(peer, message.stunPort)
    if (message.name !== undefined) book.noteName(peer, message.name)
    const [connection] = connectionsTo(host, peer)
    for (const envelope of message.records) {
      const told = await this.#inTurn(peer, async () => readRecord(envelope))
      if (told === undefined) {
        this.#refuse('peers.bad_record', peer)
        continue
      }
      const { subject, says } = told
      // libp2p signs a node's record anew for each peer: what a connected peer told itself is no news
      if (this.#records.saysOf(subject) === says) {
        own.noteKnown(subject, says)
        continue
      }
      if (this.#verified.get(subject) !== says) {
        if (connection !== undefined && !this.#mayTellNew(connection))
          return this.#refuse('peers.too_many', peer)
        if (!(await this.#inTurn(peer, () => isSigned(envelope)))) {
          this.#refuse('peers.bad_record', peer)
          continue
        }
        this.#verified.set(subject, says)
      }
      own.noteKnown(subject, says)
      if (subject === this.#self || tryParsePeerId(subject) === undefined) continue
      const addresses = usableAddresses(told.addresses, { self: this.#self, sameHost })
      const from = connection === undefined ? {} : { from: addressGroupOf(connection) }
      if (addresses.length > 0) found({ peer: subject, addresses, ...from })
    }
  }

  #noteStunPort(peer: string, port: number): void {
    if (port === 0) this.stunPorts.delete(peer)
    else if (this.stunPorts.size < MAX_KNOWN_PEERS) this.stunPorts.set(peer, port)
  }

  #refuse(code: RefusalCode, peer: string): void {
    this.#init.refusals.refuse(code, { peer, protocol: PEERS_PROTOCOL })
  }

  /** A signature's check takes a millisecond or two. */
  #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    return loopBudget(this.#clock).run('members', work, { key, signal: this.#stopped.signal })
  }
}
