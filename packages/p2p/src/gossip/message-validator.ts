/** Judges what comes on the topic: who authored it and may, whether it is an envelope, and whether this network sealed it. */
import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { PeerId as Libp2pPeerId } from '@libp2p/interface'
import { BoundedMap, type Clock, type PeerId, tryParsePeerId } from '@mesh/core'
import { SEAL_NONCE_BYTES, type Sealer } from '@mesh/network'
import { MAX_REMEMBERED_ENVELOPES } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { RefusalCode } from '../p2p-error.ts'
import type { TopicMessage } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import { decodeEnvelope } from './envelope.ts'

interface MessageValidatorInit {
  readonly self: PeerId
  /** The longest message that the network allows, in bytes. */
  readonly maxMessageBytes: number
}

interface MessageValidatorComponents {
  readonly sealer: Sealer
  readonly clock: Clock
  readonly refusals: Refusals
  /** Who may speak, by the signed author, whoever passed the message on. */
  readonly membership: Pick<Membership, 'mayUse'>
}

export class MessageValidator {
  readonly #init: MessageValidatorInit
  readonly #components: MessageValidatorComponents
  /** Messages that were opened when they were judged, until gossipsub hands them out. */
  readonly #opened = new WeakMap<Message, TopicMessage & { readonly id: string }>()
  /** Author and nonce of the last envelopes: one that comes on two topics is told once. */
  readonly #told = new BoundedMap<string, true>(MAX_REMEMBERED_ENVELOPES)

  constructor(init: MessageValidatorInit, components: MessageValidatorComponents) {
    this.#init = init
    this.#components = components
  }

  /** Opens a message that a peer passed on; what does not open is counted against that peer and not passed on. */
  judge(hop: Libp2pPeerId, message: Message): TopicValidatorResult {
    const { sealer, clock, refusals } = this.#components
    const refuse = (code: RefusalCode) => {
      refusals.refuse(code, { peer: hop.toString() })
      return TopicValidatorResult.Ignore
    }
    const author = message.type === 'signed' ? tryParsePeerId(message.from.toString()) : undefined
    if (author === undefined) return refuse('topic.bad_author')
    if (!this.#components.membership.mayUse(author)) return refuse('topic.not_admitted')
    if (message.data.length > this.#init.maxMessageBytes) return refuse('topic.too_long')
    const sealed = decodeEnvelope(message.data)
    if (sealed === undefined) return refuse('topic.bad_envelope')
    const unsealed = sealer.unseal(sealed, clock.now())
    if (unsealed === undefined) return refuse('topic.bad_seal')
    const nonce = sealed.slice(0, SEAL_NONCE_BYTES * 2).toLowerCase()
    this.#opened.set(message, { author, plaintext: unsealed.plaintext, id: `${author}/${nonce}` })
    return TopicValidatorResult.Accept
  }

  /** Gives a judged message to be told; undefined for this node's own, and for one that was told already. */
  take(message: Message): TopicMessage | undefined {
    const opened = this.#opened.get(message)
    if (opened === undefined || opened.author === this.#init.self || this.#told.has(opened.id))
      return undefined
    this.#told.set(opened.id, true)
    return { author: opened.author, plaintext: opened.plaintext }
  }
}
