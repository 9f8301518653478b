/** Two joined ends of a stream, in memory: in order, with backpressure, an end, and breaking. */
import type { PeerId } from '@mesh/core'
import type { ByteStream, VpnChannel } from '../ports.ts'

/** What a stream takes before `send` says no. */
const WINDOW_BYTES = 256 * 1024
const DRAINED_BYTES = 32 * 1024

export interface StreamPair {
  readonly near: ByteStream
  readonly far: ByteStream
  /** As if the connection was lost. */
  break(): void
  /** Bytes on their way to the two, the most there ever were. */
  readonly mostBytes: number
  readonly ended: boolean
}

interface End {
  readonly stream: ByteStream
  readonly inbox: Uint8Array[]
  held: number
  /** Nothing more comes, as the other end closed. */
  closed: boolean
  over: { readonly error: Error | undefined } | undefined
  onBytes: ((bytes: Uint8Array) => void) | undefined
  onDrain: () => void
  onEnd: ((error: Error | undefined) => void) | undefined
  paused: boolean
  awaited: boolean
  scheduled: boolean
}

/** @param peers who sees `near`'s other end as whom, and the other way round */
export function createStreamPair(
  peers: { readonly near: PeerId; readonly far: PeerId },
  direct: boolean,
): StreamPair {
  let most = 0

  function createEnd(peer: PeerId, other: () => End): End {
    const end: End = {
      inbox: [],
      held: 0,
      closed: false,
      over: undefined,
      onBytes: undefined,
      onDrain: () => {},
      onEnd: undefined,
      paused: false,
      awaited: false,
      scheduled: false,
      stream: {
        peer,
        direct,
        send(bytes) {
          const to = other()
          if (end.over !== undefined || end.closed || to.over !== undefined || to.closed) return false
          to.inbox.push(bytes)
          to.held += bytes.length
          most = Math.max(most, to.held)
          schedule(to)
          if (to.held < WINDOW_BYTES) return true
          end.awaited = true
          return false
        },
        onDrain: (listener) => (end.onDrain = listener),
        onBytes(listener) {
          end.onBytes = listener
          schedule(end)
        },
        onEnd(listener) {
          end.onEnd = listener
          if (end.over !== undefined) queueMicrotask(() => listener(end.over?.error))
        },
        pause: () => (end.paused = true),
        resume() {
          end.paused = false
          schedule(end)
        },
        close() {
          other().closed = true
          schedule(other())
        },
        abort(reason) {
          finish(end, reason)
          finish(other(), new Error('the other side reset the stream'))
        },
      },
    }
    return end
  }

  const near: End = createEnd(peers.far, () => far)
  const far: End = createEnd(peers.near, () => near)

  function schedule(end: End): void {
    if (end.scheduled) return
    end.scheduled = true
    setImmediate(() => {
      end.scheduled = false
      deliver(end)
    })
  }

  function deliver(end: End): void {
    const from = end === near ? far : near
    while (end.over === undefined && end.onBytes !== undefined && !end.paused && end.inbox.length > 0) {
      const bytes = end.inbox.shift() as Uint8Array
      end.held -= bytes.length
      end.onBytes(bytes)
    }
    if (end.closed && end.inbox.length === 0) {
      finish(end, undefined)
      finish(from, undefined)
    }
    if (from.awaited && end.held <= DRAINED_BYTES && from.over === undefined) {
      from.awaited = false
      from.onDrain()
    }
  }

  function finish(end: End, error: Error | undefined): void {
    if (end.over !== undefined) return
    end.over = { error }
    end.inbox.length = 0
    end.held = 0
    setImmediate(() => end.onEnd?.(error))
  }

  return {
    near: near.stream,
    far: far.stream,
    break() {
      for (const end of [near, far]) finish(end, new Error('the connection was lost'))
    },
    get mostBytes() {
      return most
    },
    get ended() {
      return near.over !== undefined && far.over !== undefined
    },
  }
}

/** Each chunk is a message. */
export function createMemoryChannel(stream: ByteStream): VpnChannel {
  const queue: Uint8Array[] = []
  let end: { readonly error: Error | undefined } | undefined
  let wake = () => {}
  stream.onBytes((bytes) => {
    queue.push(bytes)
    wake()
  })
  stream.onEnd((error) => {
    end = { error }
    wake()
  })
  return {
    peer: stream.peer,
    direct: stream.direct,
    async send(message) {
      stream.send(Uint8Array.from(message))
    },
    async *messages() {
      for (;;) {
        const message = queue.shift()
        if (message !== undefined) yield message
        else if (end?.error !== undefined) throw end.error
        else if (end !== undefined) return
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    },
    async close() {
      stream.close()
    },
    abort: stream.abort,
  }
}

/** Rejects with what broke the channel. */
export async function readAll(channel: VpnChannel): Promise<readonly Uint8Array[]> {
  const messages: Uint8Array[] = []
  for await (const message of channel.messages()) messages.push(message)
  return messages
}
