import { type PeerId, parsePeerId } from '@mesh/core'
import type { FileChannel } from '../ports.ts'

const PEERS = [
  parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'),
  parsePeerId('12D3KooWGRUfHZJgrtcnVb9NYuMCBhKbwBzCVJcNRwVSGn6oEVWk'),
] as const

interface End {
  readonly waiting: Uint8Array[]
  wake: () => void
  isClosed: boolean
  error: Error | undefined
}

/** Two ends of a channel in memory; each holds at most `window` messages that the other has not taken. */
export function createChannelPair({
  window = 512,
  onMessage = (message: Uint8Array) => message,
}: {
  readonly window?: number
  /** Gives what becomes of a message on its way; undefined cuts the connection. */
  readonly onMessage?: (message: Uint8Array, from: number) => Uint8Array | undefined
} = {}): readonly [FileChannel, FileChannel] {
  const ends: readonly [End, End] = [createEnd(), createEnd()]
  const wakeAll = () => {
    for (const end of ends) end.wake()
  }
  const cut = (error: Error) => {
    for (const end of ends) end.error ??= error
    wakeAll()
  }
  const channel = (own: 0 | 1): FileChannel => {
    const inbox = ends[own]
    const outbox = ends[own === 0 ? 1 : 0]
    return {
      peer: PEERS[own === 0 ? 1 : 0] as PeerId,
      direct: true,
      async send(message) {
        while (outbox.waiting.length >= window && outbox.error === undefined) await changed(outbox)
        if (outbox.error !== undefined || inbox.isClosed) throw outbox.error ?? new Error('closed')
        const arrived = onMessage(message, own)
        if (arrived === undefined) return cut(new Error('the connection was cut'))
        outbox.waiting.push(arrived)
        outbox.wake()
      },
      async *messages() {
        for (;;) {
          const message = inbox.waiting.shift()
          if (message !== undefined) {
            inbox.wake()
            yield message
          } else if (inbox.error !== undefined) throw inbox.error
          else if (outbox.isClosed) return
          else await changed(inbox)
        }
      },
      async close() {
        inbox.isClosed = true
        wakeAll()
      },
      abort: cut,
    }
  }
  return [channel(0), channel(1)]
}

function createEnd(): End {
  return { waiting: [], wake: () => {}, isClosed: false, error: undefined }
}

function changed(end: End): Promise<void> {
  return new Promise((resolve) => {
    const before = end.wake
    end.wake = () => {
      end.wake = () => {}
      before()
      resolve()
    }
  })
}
