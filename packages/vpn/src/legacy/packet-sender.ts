/**
 * Packets to one member of an older network, as it reads them (docs/WIRE.md 5.1): each on a stream of its own, in
 * one chunk, never over a relay. What waits beyond the streams in flight stays in the engine.
 */
import { type Clock, createBackoff, type PeerId, type Random, toError } from '@mesh/core'
import { type Engine, framesOf } from '@mesh/engine'
import type { ByteStream, ByteStreams } from '../ports.ts'
import { tunnelError, within } from '../tunnels/errors.ts'
import { LEGACY_PROTOCOL, STREAM_MS, STREAMS_OUT_PER_PEER } from './limits.ts'
import {
  MAX_STREAM_RETRY_MS,
  STREAM_EARLY_RETRY_MS,
  STREAM_OPEN_MS,
  STREAM_RETRY_MS,
} from '../tunnels/limits.ts'

export interface PacketSenderComponents {
  readonly engine: Pick<Engine, 'take'>
  readonly streams: Pick<ByteStreams, 'open'>
  readonly isDirect: () => boolean
  /** Connects directly, and sees that the peer still is one for plain packets; else rejects. */
  readonly prepare: (signal: AbortSignal) => Promise<void>
  /** Room for one more stream among those of all peers; if not, `readable` is called when there is. */
  readonly acquire: () => boolean
  readonly release: () => void
  readonly clock: Clock
  readonly random: Random
}

export interface PacketSender {
  /** The engine has packets for the peer, or there is room again. */
  readable(): void
  /** A connection came, or changed. */
  reach(): void
  /** Streams that are open. */
  readonly open: number
  /** Packets whose streams were refused or broke. */
  readonly lost: number
  readonly lastError: Error | undefined
  stop(): void
}

export function createPacketSender(peer: PeerId, components: PacketSenderComponents): PacketSender {
  const { engine, streams, isDirect, prepare, acquire, release, clock, random } = components
  const stopping = new AbortController()
  const backoff = createBackoff({ leastMs: STREAM_RETRY_MS, mostMs: MAX_STREAM_RETRY_MS }, { clock, random })
  let packets: Iterator<Uint8Array> | undefined
  let owed = false
  let preparing = false
  let open = 0
  let lost = 0
  /** One until a packet went through, so that a peer that is away is not asked 64 times. */
  let allowed = 1
  let lastError: Error | undefined
  let cancelRetry: (() => void) | undefined

  function drive(): void {
    if (stopping.signal.aborted || preparing || !owed) return
    const waitMs = backoff.remainingMs()
    if (waitMs > 0) {
      cancelRetry ??= clock.after(waitMs, retry)
      return
    }
    if (!isDirect()) return void connect()
    while (open < allowed && acquire()) {
      const packet = nextPacket()
      if (packet === undefined) {
        owed = false
        release()
        return
      }
      send(packet)
    }
  }

  function retry(): void {
    cancelRetry?.()
    cancelRetry = undefined
    drive()
  }

  async function connect(): Promise<void> {
    preparing = true
    try {
      await within({ clock, ms: STREAM_OPEN_MS, signal: stopping.signal }, prepare)
      if (!isDirect()) throw tunnelError('vpn.unreachable', 'there is no direct connection')
    } catch (error) {
      failed(error)
    }
    preparing = false
    drive()
  }

  function nextPacket(): Uint8Array | undefined {
    for (;;) {
      const next = packets?.next()
      if (next?.done === false) return next.value
      const batch = engine.take(peer)
      if (batch === undefined) {
        packets = undefined
        return undefined
      }
      packets = framesOf(batch)
    }
  }

  function send(packet: Uint8Array): void {
    open++
    const options = { from: 'heard', relayed: false } as const
    within({ clock, ms: STREAM_MS, signal: stopping.signal }, (signal) =>
      streams.open(peer, LEGACY_PROTOCOL, { ...options, signal }),
    ).then(
      (stream) => carryOn(stream, packet),
      (error: unknown) => {
        lost++
        allowed = 1
        failed(error)
        finished()
      },
    )
  }

  function carryOn(stream: ByteStream, packet: Uint8Array): void {
    const cancel = clock.after(STREAM_MS, () => stream.abort(new Error('the peer does not close')))
    stream.onEnd((error) => {
      cancel()
      allowed = error === undefined ? STREAMS_OUT_PER_PEER : 1
      if (error !== undefined) {
        lost++
        lastError = error
      }
      finished()
    })
    backoff.succeeded()
    stream.send(packet)
    stream.close()
  }

  function finished(): void {
    open--
    release()
    drive()
  }

  function failed(error: unknown): void {
    if (stopping.signal.aborted) return
    lastError = toError(error)
    backoff.failed()
  }

  return {
    readable() {
      owed = true
      drive()
    },
    reach() {
      backoff.hasten(STREAM_EARLY_RETRY_MS)
      retry()
    },
    get open() {
      return open
    },
    get lost() {
      return lost
    },
    get lastError() {
      return lastError
    },
    stop() {
      stopping.abort(tunnelError('vpn.stopped', 'the peer gets no plain packets any more'))
      cancelRetry?.()
      packets = undefined
    },
  }
}
