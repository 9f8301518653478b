/** The asking side of the own protocols. */
import { type Clock, MeshError, type PeerId, toError } from '@mesh/core'
import { servicesError } from '../errors.ts'
import { ANSWER_MS, MAX_REQUEST_BYTES } from '../limits.ts'
import type { ByteStream, ServicesNetwork } from '../ports.ts'
import type { EarlyBytes } from '../streams/early-bytes.ts'
import { encodeFrame, readMessage } from '../streams/frames.ts'
import { type Answer, decodeAnswer } from './messages.ts'

/** A stream that the other side accepted, paused. */
export interface OpenedStream {
  readonly stream: ByteStream
  /** Bytes that came with the answer, behind it. */
  readonly rest: Uint8Array
}

export interface RequestInit {
  readonly peer: PeerId
  readonly protocol: string
  readonly request: Uint8Array
  /** Goes along, and on until the answer. */
  readonly early?: EarlyBytes | undefined
  /** False: over libp2p, where it shares a connection with others. */
  readonly bulk?: boolean | undefined
  readonly signal: AbortSignal
}

/**
 * Opens a stream, asks, and reads the answer.
 * @throws MeshError `services.refused` (`details.answer`: the code), `services.broken`, `services.timeout`, `p2p.*`; the
 *   signal's reason
 */
export async function openRequest(
  { peer, protocol, request, early, bulk = true, signal }: RequestInit,
  { network, clock }: { readonly network: ServicesNetwork; readonly clock: Clock },
): Promise<OpenedStream> {
  const options = { from: 'proven', relayed: true, halfClose: true, lazy: true, bulk, signal } as const
  const stream = await network.streams.open(peer, protocol, options)
  try {
    stream.send(encodeFrame(request))
    early?.sendTo(stream)
    const { message, rest } = await readMessage(stream, {
      maxBytes: MAX_REQUEST_BYTES,
      withinMs: ANSWER_MS,
      clock,
      signal,
    })
    const answer = decodeAnswer(message)
    if (answer === undefined) throw servicesError('services.broken', 'the answer cannot be read')
    if (answer.code !== 'ok') {
      early?.takeBack()
      throw refusedBy(answer)
    }
    return { stream, rest }
  } catch (error) {
    stream.abort(toError(error))
    throw error
  }
}

function refusedBy({ code, reason }: Answer): MeshError {
  const message = reason === '' ? code.replaceAll('_', ' ') : reason
  return servicesError('services.refused', message, { details: { answer: code } })
}

/** The code of an answer that refused; undefined for other errors. */
export function answerOf(error: unknown): unknown {
  return error instanceof MeshError && error.code === 'services.refused' ? error.details['answer'] : undefined
}
