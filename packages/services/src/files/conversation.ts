/**
 * One channel of `/mesh/file/1`, in messages. A message that does not decode or does not come in time ends it. So does a remote
 * that requests faster than it is served. A side that is busy for long says so, and the other waits.
 */
import { type Clock, MeshError } from '@mesh/core'
import { createTokenBucket } from '@mesh/core/limits'
import { filesError } from './errors.ts'
import { decodeFileMessage, encodeFileMessage, type FileMessage } from './file-message.ts'
import { BUSY_RATE, FILE_IDLE_MS, MAX_REASON_CHARS } from './limits.ts'
import type { FileChannel } from './ports.ts'

const BUSY_INTERVAL_MS = FILE_IDLE_MS / 3

export function createConversation(channel: FileChannel, { clock }: { readonly clock: Clock }) {
  const messages = channel.messages()[Symbol.asyncIterator]()
  const mayBeBusy = createTokenBucket(BUSY_RATE, clock)
  const send = async (message: Uint8Array) => {
    try {
      await channel.send(message)
    } catch (cause) {
      throw brokenOff(cause)
    }
  }

  const breakOff = (reason: string) => {
    const error = filesError('files.broken_off', reason)
    channel.abort(error)
    return error
  }

  async function nextInTime(): Promise<FileMessage | undefined> {
    const cancel = clock.after(FILE_IDLE_MS, () => channel.abort(new Error('the remote says nothing')))
    try {
      const { done, value } = await messages.next()
      if (done === true) return undefined
      const message = decodeFileMessage(value)
      if (message !== undefined) return message
    } catch (cause) {
      throw brokenOff(cause)
    } finally {
      cancel()
    }
    throw breakOff('the remote sent what is no message')
  }

  return {
    send: (message: FileMessage) => send(encodeFileMessage(message)),
    /** A message that is encoded already; the channel keeps its bytes. */
    sendEncoded: send,
    /** Undefined when the remote closed. @throws MeshError `files.broken_off` */
    async next(): Promise<FileMessage | undefined> {
      for (;;) {
        const message = await nextInTime()
        if (message?.type !== 'busy') return message
        if (!mayBeBusy.take()) throw breakOff('the remote says without pause that it is busy')
      }
    },
    /** Tells the remote every few seconds that this side works. */
    async whileBusy<T>(work: Promise<T>): Promise<T> {
      let cancel = () => {}
      const tell = () => {
        cancel = clock.after(BUSY_INTERVAL_MS, () => {
          // a channel that broke ends the work's own sending
          send(encodeFileMessage({ type: 'busy' })).then(tell, () => {})
        })
      }
      tell()
      try {
        return await work
      } finally {
        cancel()
      }
    },
    /** Resolves when the remote has closed; after so many ms it resets the channel. Never rejects. */
    async closedByRemote(withinMs: number): Promise<void> {
      const cancel = clock.after(withinMs, () => channel.abort(new Error('the remote does not close')))
      try {
        while ((await messages.next()).done !== true);
      } catch {
        // it is over in any case
      } finally {
        cancel()
      }
    },
    close: () => channel.close(),
    abort: (reason: Error) => channel.abort(reason),
  }
}

export type Conversation = ReturnType<typeof createConversation>

function brokenOff(cause: unknown): MeshError {
  if (cause instanceof MeshError && cause.code.startsWith('files.')) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return filesError('files.broken_off', `the connection broke off: ${reason.slice(0, MAX_REASON_CHARS)}`, {
    cause,
  })
}
