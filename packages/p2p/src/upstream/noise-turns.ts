/**
 * How many messages of noise are opened in one turn of the event loop. @libp2p/noise 17.0.3 opens all that one block of bytes
 * holds at once: of messages of one byte 64 KiB hold 3,400, which took 84 ms on a processor of 2.1 GHz. When the time is over,
 * the rest waits for a later turn, and the connection is not read meanwhile. The time is the same as that of the muxer's frames.
 *
 * Reaches into `decoder`, `stream`, `decrypt`, `onData`, `sendResume` and `onTransportClosed` of the encrypted connection;
 * where one is missing all are opened at once. Without it `noise-turns.test.ts` fails; `npm run attack -- sealed-bytes`
 * sends such messages.
 */
import { type LoopTurns, toError } from '@mesh/core'
import { Uint8ArrayList } from 'uint8arraylist'

interface Beneath {
  readonly readStatus?: string
  pause(): void
  resume(): void
}

interface Decoder {
  readonly buffer: { append(bytes: unknown): void; readonly byteLength: number }
  /** Gives each message that is whole, sealed, and keeps what is left. */
  decode(bytes: unknown): Iterable<unknown>
}

/** An encrypted connection of the library, as far as its inner parts are used here. */
interface Encrypted {
  readonly readStatus: string
  readonly decoder: Decoder
  readonly stream: Beneath
  decrypt(sealed: unknown): unknown
  onData(opened: unknown): void
  sendResume(): void
  onTransportClosed(error?: Error): void
  abort(error: Error): void
}

/** How many messages are opened between two looks at the clock. */
const MESSAGES_AT_ONCE = 32
/** A list without parts: an empty part would go on to whoever reads the stream. */
const NOTHING = new Uint8ArrayList()

/** Has an encrypted connection share the time of a turn with all others; `top` is what the muxer was given. */
export function openInTurns(top: object, turns: LoopTurns): void {
  if (!isEncrypted(top)) return
  const { decoder, stream } = top
  const decode = decoder.decode.bind(decoder)
  const onTransportClosed = top.onTransportClosed.bind(top)
  let [isWaiting, isResuming] = [false, false]
  let end: (() => void) | undefined
  const wait = () => {
    isWaiting = true
    turns.later(goOn)
    pause(stream)
  }
  decoder.decode = function* (bytes) {
    if (isWaiting || isResuming) {
      decoder.buffer.append(bytes)
      if (isWaiting) pause(stream)
      return
    }
    let count = 0
    for (const sealed of decode(bytes)) {
      yield sealed
      if (++count % MESSAGES_AT_ONCE === 0 && !turns.isTimeLeft()) return wait()
    }
  }
  const goOn = () => {
    isWaiting = false
    openRest()
    if (!isWaiting && top.readStatus === 'readable') resume()
    if (!isWaiting) end?.()
  }
  const openRest = () => {
    try {
      for (const sealed of decoder.decode(NOTHING)) top.onData(top.decrypt(sealed))
    } catch (error) {
      top.abort(toError(error))
    }
  }
  /** Reads on, and opens what waited beneath when that has returned: a connection that is paused while it resumes goes on reading. */
  const resume = () => {
    if (isWaiting || stream.readStatus !== 'paused') return
    isResuming = true
    try {
      stream.resume()
    } finally {
      isResuming = false
    }
    openRest()
  }
  top.sendResume = resume
  // what came before the end belongs to the streams
  top.onTransportClosed = (error) => {
    if (isWaiting || isResuming) end = () => onTransportClosed(error)
    else onTransportClosed(error)
  }
}

function pause(stream: Beneath): void {
  if (stream.readStatus === 'readable') stream.pause()
}

function isEncrypted(top: object): top is Encrypted {
  const { decoder, stream, decrypt, onData, sendResume, onTransportClosed } = top as Partial<Encrypted>
  const methods = [decoder?.decode, decoder?.buffer?.append, stream?.pause, stream?.resume]
  return [...methods, decrypt, onData, sendResume, onTransportClosed].every(
    (method) => typeof method === 'function',
  )
}
