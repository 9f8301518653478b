/**
 * Judges what comes on the topic: who authored it, whether it is an envelope, whether this network sealed it, and
 * whether those who are told of it can take it. What is refused is not passed on.
 */
import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { PeerId as Libp2pPeerId } from '@libp2p/interface'
import { BoundedMap, type Clock, type PeerId, tryParsePeerId } from '@mesh/core'
import { SEAL_NONCE_BYTES, SEAL_TAG_BYTES, type Sealer } from '@mesh/network'
import { LONG_MESSAGE_BYTES, MAX_REMEMBERED_ENVELOPES } from '../gossip-limits.ts'
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
  /** Told how many bytes of buffers judging a long message leaves to be collected, as they come about. */
  readonly onReceived: (bytes: number) => void
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
   * waits for the next turn of the event loop: its signature was checked in this one, which takes as long.
   */
  judge(hop: Libp2pPeerId, message: Message): TopicValidatorResult | Promise<TopicValidatorResult> {
    if (message.data.length < LONG_MESSAGE_BYTES) return this.#judge(hop, message)
    return new Promise((resolve) => {
      this.#components.clock.after(0, () => {
        resolve(this.#judge(hop, message))
        // the text that was sealed in it is half as long, and what it opened to
        this.#components.onReceived(message.data.length)
      })
    })
  }

  #judge(hop: Libp2pPeerId, message: Message): TopicValidatorResult {
    const { sealer, clock, refusals } = this.#components
    const { self, maxMessageBytes, tell } = this.#init
    const refuse = (code: RefusalCode) => {
      refusals.refuse(code, { peer: hop.toString() })
      return TopicValidatorResult.Ignore
    }
    const author = message.type === 'signed' ? tryParsePeerId(message.from.toString()) : undefined
    if (author === undefined) return refuse('topic.bad_author')
    if (!this.#components.membership.mayUse(author)) return refuse('topic.not_admitted')
    if (message.data.length > maxMessageBytes) return refuse('topic.too_long')
    const sealed = decodeEnvelope(message.data)
    if (sealed === undefined) return refuse('topic.bad_envelope')
    const id = sealedId(sealed)
    const first = this.#authors.get(id)
    if (first !== undefined && first !== author) return refuse('topic.replayed')
    const unsealed = sealer.unseal(sealed, clock.now())
    if (unsealed === undefined) return refuse('topic.bad_seal')
    const envelope = `${author}/${nonceOf(sealed)}`
    if (author !== self && !this.#told.has(envelope)) {
      if (!tell({ author, plaintext: unsealed.plaintext, from: hop.toString() }))
        return refuse('topic.overload')
      this.#told.set(envelope, true)
    }
    this.#authors.set(id, author)
    return TopicValidatorResult.Accept
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
