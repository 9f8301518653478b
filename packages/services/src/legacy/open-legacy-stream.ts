/**
 * Streams to legacy members (docs/WIRE.md 5.2 to 5.4). They send no answer: a stream is accepted by not being reset.
 * They reset it until this node's entry of `users` has spread to them, so the first streams are tried, and only one
 * that stays open for a moment is used.
 */
import { type Clock, delay, type PeerId } from '@mesh/core'
import { servicesError } from '../errors.ts'
import { LEGACY_TRIAL_MS, LEGACY_TRIES, RETRY_MS } from '../limits.ts'
import type { ByteStream, ServicesNetwork } from '../ports.ts'
import type { OpenedStream } from '../wire/request.ts'

const NO_BYTES = new Uint8Array()

export function createLegacyStreams({
  network,
  clock,
}: {
  readonly network: ServicesNetwork
  readonly clock: Clock
}) {
  /** Accepted a stream on the connection that stands. */
  const accepting = new Set<PeerId>()
  const stopPaths = network.onPath((peer) => accepting.delete(peer))
  const options = { from: 'heard', relayed: true, halfClose: true } as const

  return {
    /** @throws MeshError `services.broken`: reset each time; `p2p.*`; the signal's reason */
    async open(peer: PeerId, protocol: string, signal: AbortSignal): Promise<OpenedStream> {
      for (let tries = 1; ; tries++) {
        const stream = await network.streams.open(peer, protocol, { ...options, signal })
        // sending nothing sends the protocol's name
        stream.send(NO_BYTES)
        if (accepting.has(peer)) return { stream, rest: NO_BYTES }
        const opened = await tryStream(stream, clock, signal)
        if (opened !== undefined) {
          accepting.add(peer)
          return opened
        }
        if (tries === LEGACY_TRIES) {
          throw servicesError(
            'services.broken',
            'the other side, an EdgeVPN-compatible node, resets each connection',
            {
              hint: 'Its target may be down, or it does not know this node in `users` yet.',
            },
          )
        }
        await delay(clock, RETRY_MS * tries, signal)
      }
    },
    stop: stopPaths,
  }
}

export type LegacyStreams = ReturnType<typeof createLegacyStreams>

/** Undefined: it was reset. Some services speak first, which says that the stream was accepted. */
function tryStream(stream: ByteStream, clock: Clock, signal: AbortSignal): Promise<OpenedStream | undefined> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void) => {
      cancel()
      signal.removeEventListener('abort', onAbort)
      act()
    }
    const accept = (rest: Uint8Array) => {
      stream.pause()
      finish(() => resolve({ stream, rest }))
    }
    const onAbort = () => {
      stream.abort(new Error('given up'))
      finish(() => reject(signal.reason))
    }
    const cancel = clock.after(LEGACY_TRIAL_MS, () => accept(NO_BYTES))
    signal.addEventListener('abort', onAbort, { once: true })
    stream.onEnd(() => finish(() => resolve(undefined)))
    stream.onBytes(accept)
  })
}
