/**
 * Shares the files that this node offers, to any number of receivers at a time. Each offer is announced in
 * the bucket `files` for as long as its path can be read; only members who announced themselves in `users`
 * are served.
 */
import { BUCKETS, type Clock, delay, type Logger, type PeerId, shortPeerId, toError } from '@mesh/core'
import { type Claim, type Place, Scope } from '@mesh/core/limits'
import { admitUser } from '../users/admit-user.ts'
import { endWhenRefused } from '../users/offer-rules.ts'
import { createConversation } from './conversation.ts'
import { filesError } from './errors.ts'
import {
  IDLE_RECEIVER_MS,
  MAX_FILE_MESSAGE_BYTES,
  MAX_OFFERED_FILES,
  MAX_RECEIVERS_PER_PEER,
  RECEIVERS,
} from './limits.ts'
import { encodeFileMessage, REFUSAL } from './file-message.ts'
import type { LeftOut } from './left-out.ts'
import { FILE_PROTOCOL } from '../protocols.ts'
import { WITHDRAW_MS } from '../limits.ts'
import { serveRawFiles } from './legacy/serve-raw-files.ts'
import { nameTaken } from '../name-taken.ts'
import { checkServiceName } from '../services/service-name.ts'
import type { ServicesProblem } from '../services/status.ts'
import { requireReadable, type Scan, scanShare } from './scan.ts'
import { sendShare } from './send-session.ts'
import { SendingLoad } from './sending-load.ts'
import type { FileChannel, FilesComponents } from './ports.ts'
import { ProgressMeter, type TransferProgress } from './transfer-progress.ts'
import { totalBytes } from './manifest.ts'

export interface FileOffer {
  readonly name: string
  /** The absolute path of what is shared. */
  readonly path: string
  /** The ledger has this node's entry. */
  readonly isAnnounced: boolean
  /** Another live member has the name: its peer id. */
  readonly takenBy: string | undefined
  /** Entries of the folder that are not sent: links, special files, and names that the last receiver cannot have, if it is an older version. */
  readonly leftOut: LeftOut
  /** Number of receivers that have got all of it. */
  readonly completed: number
  /** Bytes since the start, to all receivers. */
  readonly bytesSent: number
  readonly receivers: readonly (TransferProgress & FileReceiver)[]
  /** Why the last transfer, or the announcement, failed; in words. */
  readonly lastError: string | undefined
}

/** Who receives, and by which way. */
interface FileReceiver {
  readonly peer: PeerId
  readonly path: 'direct' | 'relayed'
  /** `tcp tls`, or what carries libp2p. */
  readonly transport: string | undefined
}

interface Offer {
  readonly name: string
  readonly path: string
  readonly stopAnnouncing: () => void
  leftOut: LeftOut
  completed: number
  bytesSent: number
  lastError: string | undefined
}

interface Receiver extends FileReceiver {
  readonly address: string | undefined
  readonly place: Place
  readonly meter: ProgressMeter
  readonly end: AbortController
  offer: Offer | undefined
  /** The time by the monotonic clock, in ms. */
  movedAt: number
}

export class FileSharing {
  readonly #components: FilesComponents
  readonly #clock: Clock
  readonly #log: Logger
  readonly #offers = new Map<string, Offer>()
  readonly #receivers = new Set<Receiver>()
  readonly #places = new Scope(RECEIVERS)
  readonly #load: SendingLoad
  readonly #listeners = new Set<(name: string) => void>()
  #isStopped = false
  #unsubscribe = () => {}

  constructor(components: FilesComponents) {
    this.#components = components
    this.#clock = components.clock
    this.#load = new SendingLoad({ clock: this.#clock, receivers: () => this.#places.total })
    this.#log = components.log.child('files')
  }

  async start(): Promise<void> {
    const { network, ledger } = this.#components
    this.#unsubscribe = ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      for (const { bucket, key } of event.changes) {
        if (bucket === BUCKETS.files && this.#offers.has(key)) this.#changed(key)
      }
    })
    const options = {
      maxMessageBytes: MAX_FILE_MESSAGE_BYTES,
      maxPerPeer: MAX_RECEIVERS_PER_PEER,
      bulk: true,
    }
    await network.channels.handle(FILE_PROTOCOL, options, (channel) => this.#serve(channel))
    await serveRawFiles({
      ...this.#components,
      receivers: this.#places,
      load: this.#load,
      log: this.#log,
      // its protocol names no file
      path: () => this.#offers.values().next().value?.path,
    })
  }

  /** @throws MeshError `services.bad_name`, `files.unreadable`, `files.too_many` */
  async offer(name: string, path: string): Promise<void> {
    checkServiceName(name)
    const { signal } = new AbortController()
    const scan = await scanShare(path, signal)
    await requireReadable(scan, signal)
    const { leftOut } = scan
    await this.withdraw(name)
    if (this.#offers.size >= MAX_OFFERED_FILES) {
      throw filesError('files.too_many', `${MAX_OFFERED_FILES} names are offered already`, {
        hint: 'Withdraw one, or offer a folder that holds several files.',
      })
    }
    const { announce, network } = this.#components
    const stopAnnouncing = announce(BUCKETS.files, name, () =>
      JSON.stringify({ PeerID: network.self, Name: name }),
    )
    this.#offers.set(name, {
      name,
      path,
      stopAnnouncing,
      leftOut,
      completed: 0,
      bytesSent: 0,
      lastError: undefined,
    })
    this.#warnOf(name, leftOut)
    this.#changed(name)
  }

  /** Ends its transfers, too. @returns was it offered? */
  async withdraw(name: string): Promise<boolean> {
    const offer = this.#offers.get(name)
    if (offer === undefined) return false
    this.#offers.delete(name)
    for (const receiver of this.#receivers) {
      if (receiver.offer === offer) receiver.end.abort(new Error('the file is not offered any more'))
    }
    await this.#endEntry(offer)
    this.#changed(name)
    return true
  }

  offers(): readonly FileOffer[] {
    const { ledger, clock } = this.#components
    const snapshot = ledger.snapshot()
    return [...this.#offers.values()].map((offer) => {
      const { name, path, leftOut, completed, bytesSent, lastError } = offer
      const owner = snapshot.getLive(BUCKETS.files, name)?.owner
      const isTaken = owner !== undefined && owner !== ledger.self && snapshot.isOwnerLive(owner, clock.now())
      const receivers = [...this.#receivers].filter((receiver) => receiver.offer === offer)
      return {
        name,
        path,
        leftOut,
        completed,
        bytesSent,
        lastError,
        isAnnounced: owner === ledger.self,
        takenBy: isTaken ? owner : undefined,
        receivers: receivers.map(({ peer, path: way, transport, meter }) => ({
          peer,
          path: way,
          transport,
          ...meter.read(),
        })),
      }
    })
  }

  /** The problems that a person should look after. */
  problems(): readonly ServicesProblem[] {
    return this.offers()
      .filter(({ takenBy }) => takenBy !== undefined)
      .map(({ name, takenBy }) => nameTaken(`The file ${name}`, takenBy))
  }

  /** After each change of `offers` other than progress. */
  onChange(listener: (name: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#listeners.clear()
    this.#unsubscribe()
    for (const { end } of this.#receivers) end.abort(new Error('the sender stops'))
    const ended = Promise.all([...this.#offers.values()].map((offer) => this.#endEntry(offer)))
    this.#offers.clear()
    // writes that are held must not hold the end up
    const late = new AbortController()
    await Promise.race([ended, delay(this.#clock, WITHDRAW_MS, late.signal).catch(() => {})])
    late.abort(new Error('withdrawn'))
  }

  async #endEntry({ name, stopAnnouncing }: Offer): Promise<void> {
    stopAnnouncing()
    try {
      await this.#components.ledger.delete(BUCKETS.files, name).settled
    } catch {
      // it is, or has become, the entry of another member
    }
  }

  async #serve(channel: FileChannel): Promise<void> {
    const { peer } = channel
    const address = this.#components.network.addressOf(peer)
    const end = new AbortController()
    const makeWay = () => end.abort(new Error('others wait for a place'))
    const claim = { peer, address: address ?? '', end: makeWay }
    const place = this.#isStopped ? undefined : this.#reserve(claim)
    if (place === undefined) {
      const reason = 'the sender serves as many receivers as it can'
      await channel.send(encodeFileMessage({ type: 'refusal', code: REFUSAL.busy, reason }))
      return
    }
    const meter = new ProgressMeter(this.#clock)
    const movedAt = this.#clock.monotonic()
    const path = channel.direct ? 'direct' : 'relayed'
    const transport = channel.transport ?? this.#components.network.pathOf(peer)?.transport
    const way = { peer, path, transport } as const
    const receiver: Receiver = { ...way, address, place, meter, end, offer: undefined, movedAt }
    this.#receivers.add(receiver)
    const conversation = createConversation(channel, { clock: this.#clock })
    end.signal.addEventListener('abort', () => conversation.abort(toError(end.signal.reason)))
    const { rules } = this.#components
    const stop = endWhenRefused(rules, { peer, offer: { kind: 'files' } }, (reason) => end.abort(reason))
    try {
      const missing = await sendShare({
        conversation,
        signal: end.signal,
        load: this.#load,
        pathOf: (name) => this.#offers.get(name)?.path,
        admit: (entries) => admitUser({ peer, entries }, this.#components),
        refusal: () => rules?.refusal(peer, { kind: 'files' }),
        onShare: (name, scan) => this.#begin(receiver, name, scan),
        onUnreadable: (name, error) => this.#unreadable(name, error),
        onBytes: (byteCount, isMoved) => {
          meter.add(byteCount, isMoved)
          receiver.movedAt = this.#clock.monotonic()
          if (isMoved && receiver.offer !== undefined) receiver.offer.bytesSent += byteCount
        },
      })
      if (missing !== undefined) this.#complete(receiver, missing)
    } catch (error) {
      if (receiver.offer !== undefined) receiver.offer.lastError = toError(error).message
      this.#log.debug('transfer ended with an error', { peer, error: String(error) })
      throw error
    } finally {
      stop()
      this.#end(receiver)
      if (receiver.offer !== undefined) this.#changed(receiver.offer.name)
    }
  }

  #warnOf(name: string, { count, names }: LeftOut): void {
    if (count > 0) this.#log.warn('links and special files are not sent', { name, count, names })
  }

  /** @param missing what the receiver could not store */
  #complete({ offer, peer }: Receiver, { count, names }: LeftOut): void {
    if (offer === undefined) return
    offer.completed++
    offer.lastError =
      count === 0 ? undefined : `${shortPeerId(peer)} left out ${count} files: ${names.join('; ')}`
    if (count > 0) this.#log.warn('the receiver left files out', { name: offer.name, to: peer, count, names })
  }

  #begin(receiver: Receiver, name: string, scan: Scan): void {
    const total = totalBytes(scan)
    receiver.offer = this.#offers.get(name)
    if (receiver.offer !== undefined) receiver.offer.leftOut = scan.leftOut
    receiver.meter.totalBytes = total
    this.#log.info('sending', { name, to: receiver.peer, bytes: total, leftOut: scan.leftOut.count })
    this.#changed(name)
  }

  #unreadable(name: string, error: Error): void {
    const offer = this.#offers.get(name)
    if (offer !== undefined) offer.lastError = error.message
    this.#log.warn('what is offered cannot be read', { name, reason: error.message })
    this.#changed(name)
  }

  /**
   * The receiver that has taken nothing for longest makes room, where that is long enough. It is one of the peer's own address
   * if that has too many.
   */
  #reserve(claim: Claim): Place | undefined {
    if (!this.#places.hasRoom(claim)) this.#endIdle(claim)
    return this.#places.reserve(claim)
  }

  #endIdle({ peer, address }: Claim): void {
    const isFull = this.#places.total >= RECEIVERS.all
    const [idle] = [...this.#receivers]
      .filter((receiver) => isFull || receiver.peer === peer || receiver.address === address)
      .toSorted((a, b) => a.movedAt - b.movedAt)
    if (idle === undefined || this.#clock.monotonic() - idle.movedAt < IDLE_RECEIVER_MS) return
    idle.end.abort(new Error('others wait, and nothing is taken'))
    this.#end(idle)
  }

  #end(receiver: Receiver): void {
    this.#receivers.delete(receiver)
    receiver.place.release()
  }

  #changed(name: string): void {
    for (const listener of this.#listeners) listener(name)
  }
}
