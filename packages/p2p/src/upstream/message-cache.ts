/**
 * How many bytes of messages gossipsub keeps for who asks for them later. @libp2p/gossipsub 17.1.1 keeps each for five
 * heartbeats, whatever its length: messages of 14 MB would take hundreds of megabytes in that time. What is not kept is
 * passed on as ever; who missed it finds out by comparing ledgers.
 *
 * Reaches into `mcache`; where it is missing nothing is bounded. Without it `message-cache.test.ts` fails.
 */
interface MessageCache {
  readonly msgs?: ReadonlyMap<string, { readonly message: CachedMessage }>
  put?(id: unknown, message: CachedMessage, validated?: boolean): boolean
  shift?(): void
}

interface CachedMessage {
  readonly data?: { readonly length: number } | undefined
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
    const isNew = put(id, message, validated)
    if (isNew) bytes += length
    return isNew
  }
  mcache.shift = () => {
    shift()
    bytes = 0
    for (const { message } of msgs.values()) bytes += message.data?.length ?? 0
  }
}
