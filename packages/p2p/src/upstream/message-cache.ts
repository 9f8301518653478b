/**
 * How many bytes of messages gossipsub keeps for who asks for them later. @libp2p/gossipsub 17.1.1 keeps each for five
 * heartbeats, whatever its length: messages of 14 MB would take hundreds of megabytes in that time. What is not kept is
 * passed on as ever; who missed it finds out by comparing ledgers. A message that is a small part of its frame is copied:
 * it would keep all of the frame, of which the rest may be 20 MB of nothing.
 *
 * Reaches into `mcache`; where it is missing nothing is bounded. Without it `message-cache.test.ts` fails.
 */
import { copyOf, isSmallPart } from '@mesh/core'

interface MessageCache {
  readonly msgs?: ReadonlyMap<string, { readonly message: CachedMessage }>
  put?(id: unknown, message: CachedMessage, validated?: boolean): boolean
  shift?(): void
}

interface CachedMessage {
  readonly data?: Uint8Array | undefined
}

/** Keeps no message that would bring what is kept over so many bytes. */
export function boundMessageCache(pubsub: object, mostBytes: number): void {
  const { mcache } = pubsub as { readonly mcache?: MessageCache }
  const [put, shift] = [mcache?.put?.bind(mcache), mcache?.shift?.bind(mcache)]
  if (mcache?.msgs === undefined || put === undefined || shift === undefined) return
  const { msgs } = mcache
  let bytes = 0
  mcache.put = (id, message, validated) => {
    const length = message.data?.length ?? 0
    if (bytes + length > mostBytes) return false
    const isNew = put(id, ofItsOwn(message), validated)
    if (isNew) bytes += length
    return isNew
  }
  mcache.shift = () => {
    shift()
    bytes = 0
    for (const { message } of msgs.values()) bytes += message.data?.length ?? 0
  }
}

/** The message with bytes of its own where they are a small part of a frame. */
function ofItsOwn(message: CachedMessage): CachedMessage {
  if (message.data === undefined || !isSmallPart(message.data)) return message
  const copied = Object.entries(message).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Uint8Array ? copyOf(value) : value,
  ])
  return Object.fromEntries(copied) as CachedMessage
}
