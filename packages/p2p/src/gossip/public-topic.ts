/**
 * The public topic: what members who are not trusted yet say to those that may let them in (docs/WIRE.md 6.3). Messages
 * are short and few: each author, each address that passes them on and all together may send so many, and no more is
 * opened, passed on or told.
 */
import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { Libp2p, PeerId as Libp2pPeerId } from '@libp2p/interface'
import { type Clock, type PeerId, tryParsePeerId } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import type { Sealer } from '@mesh/network'
import { ipOf } from '../addresses/address-rules.ts'
import { MAX_PUBLIC_MESSAGE_BYTES, PUBLIC_MESSAGES, PUBLIC_MESSAGES_OF_AUTHOR } from './limits.ts'
import { Listeners } from '../listeners.ts'
import type { RefusalCode } from '../p2p-error.ts'
import type { PublicMessage } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import { decodePublicEnvelope } from './envelope.ts'

interface PublicTopicComponents {
  readonly self: PeerId
  readonly libp2p: Pick<Libp2p, 'getConnections'>
  readonly sealer: Sealer
  readonly clock: Clock
  readonly refusals: Refusals
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Judges and tells the messages of the public topic. */
export class PublicTopicReader {
  readonly #components: PublicTopicComponents
  readonly #opened = new WeakMap<Message, PublicMessage>()
  readonly #listeners = new Listeners<[message: PublicMessage]>()
  readonly #byAuthor
  readonly #byAddress

  constructor(components: PublicTopicComponents) {
    const { clock } = components
    this.#components = components
    this.#byAuthor = createRate(PUBLIC_MESSAGES_OF_AUTHOR, clock)
    this.#byAddress = createRate(PUBLIC_MESSAGES, clock)
  }

  readonly onMessage = this.#listeners.add

  /** Counts: what is too long, too often, or does not open is counted against the hop and not passed on. */
  judge(hop: Libp2pPeerId, message: Message): TopicValidatorResult {
    const { sealer, clock, refusals } = this.#components
    const refuse = (code: RefusalCode) => {
      refusals.refuse(code, { peer: hop.toString() })
      return TopicValidatorResult.Ignore
    }
    const author = message.type === 'signed' ? tryParsePeerId(message.from.toString()) : undefined
    if (author === undefined) return refuse('topic.bad_author')
    if (message.data.length > MAX_PUBLIC_MESSAGE_BYTES) return refuse('topic.too_long')
    if (!this.#mayPass(hop, author)) return refuse('topic.too_many')
    const envelope = decodePublicEnvelope(message.data)
    if (envelope === undefined) return refuse('topic.bad_envelope')
    const plaintext = sealer.unseal(envelope.sealed, clock.now())?.plaintext
    const text = plaintext === undefined ? undefined : decodeText(plaintext)
    if (text === undefined) return refuse('topic.bad_seal')
    this.#opened.set(message, { author, text, signature: envelope.signature })
    return TopicValidatorResult.Accept
  }

  /** Tells a judged message, unless it is this node's own. */
  tell(message: Message): void {
    const opened = this.#opened.get(message)
    if (opened === undefined || opened.author === this.#components.self) return
    this.#opened.delete(message)
    this.#listeners.tell(opened)
  }

  stop(): void {
    this.#listeners.clear()
  }

  /** The hop first: it cannot use up what its neighbours may send, and its authors' keys cost it nothing. */
  #mayPass(hop: Libp2pPeerId, author: PeerId): boolean {
    const [connection] = this.#components.libp2p.getConnections(hop)
    const address = connection === undefined ? undefined : ipOf(connection.remoteAddr)
    return (
      this.#byAddress.take({ address: address ?? hop.toString() }) && this.#byAuthor.take({ peer: author })
    )
  }
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
