/**
 * Encodes messages as protobuf. Within one message a position omits its bucket if the position before had the same. A range
 * omits its start if the range before ended there.
 */
import { type Codec, decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { SyncMessage } from './sync-message.ts'
import { readSyncMessage } from './sync-message-reader.ts'
import { writeSyncMessage } from './sync-message-writer.ts'

export function encodeSyncMessage(message: SyncMessage): Uint8Array {
  return encodeMessage(message, syncMessageCodec)
}

/** Undefined when the bytes are no message, or one over the bounds. */
export function decodeSyncMessage(bytes: Uint8Array): SyncMessage | undefined {
  try {
    return decodeMessage(bytes, syncMessageCodec)
  } catch {
    return undefined
  }
}

const syncMessageCodec: Codec<SyncMessage, SyncMessage> = message<SyncMessage, SyncMessage>(
  writeSyncMessage,
  readSyncMessage,
  function* () {},
)
