/**
 * Admits inbound streams of an own protocol.
 *
 * 1. Checks how many there are.
 * 2. Reads the request, in time and within bounds.
 * 3. Looks the peer up in `users`.
 * 4. Calls the handler, which asks the access rules (`requireAllowed`) and answers.
 *
 * A refused peer gets the reason.
 */
import { type Clock, type Logger, toError } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import { MAX_REQUEST_BYTES, REQUEST_MS } from '../limits.ts'
import type { ByteStream, ServicesLedger, ServicesNetwork } from '../ports.ts'
import type { Unwritten } from '../streams/unwritten.ts'
import { admitUser } from '../users/admit-user.ts'
import { endWhenRefused, type OfferRules, type RuledOffer } from '../users/offer-rules.ts'
import { encodeFrame, readMessage } from '../streams/frames.ts'
import { type AnswerCode, encodeAnswer } from './messages.ts'
import type { Refusals } from './refusals.ts'

/** Why a request is not served; the peer gets the code and the message. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly code: Exclude<AnswerCode, 'ok'>
  constructor(code: Exclude<AnswerCode, 'ok'>, reason: string) {
    super(reason)
    this.code = code
  }
}

/** A request that was admitted. */
export interface Accepted<Request> {
  readonly request: Request
  readonly stream: ByteStream
  /** Bytes that came with the request, behind it. */
  readonly rest: Uint8Array
  /** Aborts when the stream ends before `answerOk`. */
  readonly signal: AbortSignal
  /** Ends the stream when the rules change and refuse this. @throws RequestRefused when the rules refuse it now */
  requireAllowed(offer: RuledOffer): void
  /** Says yes; the handler has the stream's listeners from here on. */
  answerOk(): void
}

export interface AcceptInit<Request extends { readonly entries: Uint8Array }> {
  readonly protocol: 'service' | 'egress'
  readonly decode: (message: Uint8Array) => Request | undefined
  /** Resolves when the connection is over. @throws RequestRefused before `answerOk` */
  readonly handle: (accepted: Accepted<Request>) => Promise<void>
}

export interface AcceptComponents {
  readonly ledger: ServicesLedger
  readonly network: Pick<ServicesNetwork, 'addressOf'>
  readonly clock: Clock
  readonly log: Logger
  readonly refusals: Refusals
  readonly connections: Scope
  /** Undefined: every member may use everything. */
  readonly rules?: OfferRules | undefined
  /** Bounds what waits for the targets of all. */
  readonly unwritten: Unwritten
}

/** Handles one stream; never rejects. */
export async function acceptRequest<Request extends { readonly entries: Uint8Array }>(
  stream: ByteStream,
  init: AcceptInit<Request>,
  components: AcceptComponents,
): Promise<void> {
  const { connections, network, refusals, log } = components
  const { peer } = stream
  const refuse = ({ code, message }: RequestRefused) => {
    refusals.refuse(`${init.protocol}.${code}`, peer, message)
    stream.send(encodeFrame(encodeAnswer(code, message)))
    stream.close()
  }
  const end = () => stream.abort(new Error('others wait for a connection'))
  const place = connections.reserve({ peer, address: network.addressOf(peer) ?? '', end })
  if (place === undefined) return refuse(new RequestRefused('busy', 'too many connections at a time'))
  try {
    await serve(stream, init, components)
  } catch (error) {
    if (error instanceof RequestRefused) refuse(error)
    else {
      log.debug('request failed', { peer, protocol: init.protocol, error })
      stream.abort(toError(error))
    }
  } finally {
    place.release()
  }
}

async function serve<Request extends { readonly entries: Uint8Array }>(
  stream: ByteStream,
  { decode, handle }: AcceptInit<Request>,
  components: AcceptComponents,
): Promise<void> {
  const { message, rest } = await readMessage(stream, {
    maxBytes: MAX_REQUEST_BYTES,
    withinMs: REQUEST_MS,
    clock: components.clock,
  })
  const gone = new AbortController()
  stream.onEnd((error) => gone.abort(error ?? new Error('the stream ended')))
  const request = decode(message)
  if (request === undefined) throw new RequestRefused('bad_request', 'this is no request')
  const reason = await admitUser({ peer: stream.peer, entries: request.entries }, components)
  if (reason !== undefined) throw new RequestRefused('not_user', reason)
  gone.signal.throwIfAborted()
  const answerOk = () => void stream.send(encodeFrame(encodeAnswer('ok')))
  const held = holdToRules(stream, components)
  try {
    await handle({ request, stream, rest, signal: gone.signal, answerOk, ...held })
  } finally {
    held.stop()
  }
}

/** Asks the rules for the peer of a stream, and ends the stream when they change and refuse. */
export function holdToRules(
  stream: ByteStream,
  { rules }: Pick<AcceptComponents, 'rules'>,
): { readonly requireAllowed: (offer: RuledOffer) => void; readonly stop: () => void } {
  const { peer } = stream
  let stop = () => {}
  return {
    requireAllowed(offer) {
      const reason = rules?.refusal(peer, offer)
      if (reason !== undefined) throw new RequestRefused('forbidden', reason)
      stop = endWhenRefused(rules, { peer, offer }, (ended) => stream.abort(ended))
    },
    stop: () => stop(),
  }
}
