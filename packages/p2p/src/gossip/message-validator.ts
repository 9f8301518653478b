/**
 * Judges what comes on the topic: who authored it, whether it is an envelope, whether this network sealed it, and
 * whether those who are told of it can take it. What is refused is not passed on.
 */
import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { PeerId as Libp2pPeerId } from '@libp2p/interface'
import { BoundedMap, type Clock, delay, type PeerId, tryParsePeerId } from '@mesh/core'
import { SEAL_NONCE_BYTES, SEAL_TAG_BYTES, type Sealer, type Unsealed } from '@mesh/network'
import { MAX_REMEMBERED_ENVELOPES } from './limits.ts'
import { LONG_MESSAGE_BYTES } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { RefusalCode } from '../p2p-error.ts'
import type { TopicMessage } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import { decodeEnvelope } from './envelope.ts'

interface MessageValidatorInit {
  readonly self: PeerId
  /** The longest message that the network allows, in bytes. */
  readonly maxMessageBytes: number
  /** Told each message once; false when it cannot be taken now. */
  readonly tell: (message: TopicMessage) => boolean
}

interface MessageValidatorComponents {
  readonly sealer: Sealer
  readonly clock: Clock
  readonly refusals: Refusals
  /** Who may speak, by the signed author, whoever passed the message on. */
  readonly membership: Pick<Membership, 'mayUse'>
}

/** A sealed text and who says it. */
interface SealedText {
  readonly author: PeerId
  /** The bytes of its hexadecimal digits. */
  readonly hex: Uint8Array
  /** Tells sealed texts apart by nonce and tag. */
  readonly id: string
  readonly nonce: string
}

export class MessageValidator {
  readonly #init: MessageValidatorInit
  readonly #components: MessageValidatorComponents
  /** Author and nonce of the last envelopes: one that comes on two topics, or sealed anew, is told once. */
  readonly #told = new BoundedMap<string, true>(MAX_REMEMBERED_ENVELOPES)
  /** Nonce and tag to author: a sealed text that comes under a second author is somebody else's, signed anew. */
  readonly #authors = new BoundedMap<string, PeerId>(MAX_REMEMBERED_ENVELOPES)

  constructor(init: MessageValidatorInit, components: MessageValidatorComponents) {
    this.#init = init
    this.#components = components
  }

  /**
   * Opens a message that a peer passed on and tells it; what does not open is counted against that peer. A long message
   * gives way to other work between the steps of it.
   */
  judge(hop: Libp2pPeerId, message: Message): TopicValidatorResult | Promise<TopicValidatorResult> {
    const from = hop.toString()
    if (message.data.length >= LONG_MESSAGE_BYTES) return this.#judgeLong(from, message)
    const sealed = this.#sealedIn(message)
    if (typeof sealed === 'string') return this.#refuse(sealed, from)
    const { sealer, clock } = this.#components
    return this.#take(from, sealed, sealer.unseal(sealed.hex, clock.now()))
  }

  async #judgeLong(from: string, message: Message): Promise<TopicValidatorResult> {
    const { sealer, clock } = this.#components
    const pause = () => delay(clock, 0)
    await pause()
    const sealed = this.#sealedIn(message)
    if (typeof sealed === 'string') return this.#refuse(sealed, from)
    await pause()
    const unsealed = await sealer.unsealLong(sealed.hex, clock.now(), pause)
    return this.#take(from, sealed, unsealed)
  }

  /** Gives the sealed text of a message, or why it is refused. */
  #sealedIn(message: Message): SealedText | RefusalCode {
    const author = message.type === 'signed' ? tryParsePeerId(message.from.toString()) : undefined
    if (author === undefined) return 'topic.bad_author'
    if (!this.#components.membership.mayUse(author)) return 'topic.not_admitted'
    if (message.data.length > this.#init.maxMessageBytes) return 'topic.too_long'
    const hex = decodeEnvelope(message.data)
    if (hex === undefined) return 'topic.bad_envelope'
    const sealed = { author, hex, id: sealedId(hex), nonce: nonceOf(hex) }
    return this.#isReplayed(sealed) ? 'topic.replayed' : sealed
  }

  /** Says whether a sealed text came under another author before. */
  #isReplayed({ author, id }: SealedText): boolean {
    const first = this.#authors.get(id)
    return first !== undefined && first !== author
  }

  /** Tells what a sealed text opened to, if it did. */
  #take(from: string, sealed: SealedText, unsealed: Unsealed | undefined): TopicValidatorResult {
    const { author, id, nonce } = sealed
    if (unsealed === undefined) return this.#refuse('topic.bad_seal', from)
    // another may have come while a long one was opened
    if (this.#isReplayed(sealed)) return this.#refuse('topic.replayed', from)
    const envelope = `${author}/${nonce}`
    if (author !== this.#init.self && !this.#told.has(envelope)) {
      if (!this.#init.tell({ author, plaintext: unsealed.plaintext, from }))
        return this.#refuse('topic.overload', from)
      this.#told.set(envelope, true)
    }
    this.#authors.set(id, author)
    return TopicValidatorResult.Accept
  }

  #refuse(code: RefusalCode, peer: string): TopicValidatorResult {
    this.#components.refusals.refuse(code, { peer })
    return TopicValidatorResult.Ignore
  }

  /** Notes what this node sealed itself, so that nobody brings it back under another name. */
  noteOwn(sealedHex: string): void {
    this.#authors.set(sealedId(new TextEncoder().encode(sealedHex)), this.#init.self)
  }
}

const decoder = new TextDecoder()
const nonceOf = (sealedHex: Uint8Array) =>
  decoder.decode(sealedHex.subarray(0, SEAL_NONCE_BYTES * 2)).toLowerCase()

/** Gives what tells two sealed texts apart: nonce and tag. */
const sealedId = (sealedHex: Uint8Array) =>
  nonceOf(sealedHex) + decoder.decode(sealedHex.subarray(-SEAL_TAG_BYTES * 2)).toLowerCase()
