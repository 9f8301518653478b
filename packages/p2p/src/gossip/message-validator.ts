/** Judges what comes on the topic: author, envelope, seal, and whether listeners take it. The rest is not passed on. */
import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { PeerId as Libp2pPeerId } from '@libp2p/interface'
import { BoundedMap, type Clock, type PeerId, tryParsePeerId } from '@mesh/core'
import { SEAL_NONCE_BYTES, SEAL_TAG_BYTES, type Sealer } from '@mesh/network'
import { MAX_REMEMBERED_ENVELOPES } from './limits.ts'
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

  /** Opens a message that a peer passed on and tells it; what does not open is counted against that peer. */
  judge(hop: Libp2pPeerId, message: Message): TopicValidatorResult {
    const from = hop.toString()
    const sealed = this.#sealedIn(message)
    if (typeof sealed === 'string') return this.#refuse(sealed, from)
    const { author, id, nonce, hex } = sealed
    const { sealer, clock } = this.#components
    const unsealed = sealer.unseal(hex, clock.now())
    if (unsealed === undefined) return this.#refuse('topic.bad_seal', from)
    const envelope = `${author}/${nonce}`
    if (author !== this.#init.self && !this.#told.has(envelope)) {
      if (!this.#init.tell({ author, plaintext: unsealed.plaintext, from }))
        return this.#refuse('topic.overload', from)
      this.#told.set(envelope, true)
    }
    this.#authors.set(id, author)
    return TopicValidatorResult.Accept
  }

  /** Gives the sealed text of a message, or why it is refused. */
  #sealedIn(message: Message): SealedText | RefusalCode {
    const author = message.type === 'signed' ? tryParsePeerId(message.from.toString()) : undefined
    if (author === undefined) return 'topic.bad_author'
    if (!this.#components.membership.mayUse(author)) return 'topic.not_admitted'
    if (message.data.length > this.#init.maxMessageBytes) return 'topic.too_long'
    const hex = decodeEnvelope(message.data)
    if (hex === undefined) return 'topic.bad_envelope'
    const id = sealedId(hex)
    // a sealed text that came under another author before
    const first = this.#authors.get(id)
    return first !== undefined && first !== author
      ? 'topic.replayed'
      : { author, hex, id, nonce: nonceOf(hex) }
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
