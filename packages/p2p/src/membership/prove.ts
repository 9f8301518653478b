/** The member handshake over a stream, both sides. */
import type { Stream } from '@libp2p/interface'
import { type PeerId, type Random, toError } from '@mesh/core'
import { readFrames, writeFrame } from '../libp2p/frames.ts'
import { MAX_MEMBER_MESSAGE_BYTES } from './limits.ts'
import { buildProof, isProof } from './handshake.ts'
import {
  decodeHandshakeMessage,
  encodeHandshakeMessage,
  type HandshakeMessage,
  NONCE_BYTES,
} from './handshake-message.ts'

/** How a handshake went: `broken` when the stream ended or something that is no handshake came. */
export type Outcome = 'proven' | 'bad proof' | 'malformed' | 'broken'

interface ProveInit {
  readonly stream: Stream
  readonly self: PeerId
  readonly remote: PeerId
  readonly memberKey: Uint8Array
  readonly random: Random
}

/** Opens the handshake, proves after the other side has. */
export function proveAsInitiator(init: ProveInit): Promise<Outcome> {
  const { stream, self, remote, memberKey, random } = init
  return talk(stream, async (next) => {
    const initiatorNonce = random.bytes(NONCE_BYTES)
    await writeFrame(stream, encodeHandshakeMessage({ nonce: initiatorNonce }))
    const { nonce: responderNonce, proof } = await next()
    if (responderNonce === undefined || proof === undefined) return 'malformed'
    const handshake = { initiator: self, responder: remote, initiatorNonce, responderNonce }
    if (!isProof(buildProof(memberKey, 'responder', handshake), proof)) return 'bad proof'
    await writeFrame(stream, encodeHandshakeMessage({ proof: buildProof(memberKey, 'initiator', handshake) }))
    return 'proven'
  })
}

/** Answers the handshake, proves first: the proof is of use to nobody but this initiator on this connection. */
export function proveAsResponder(init: ProveInit): Promise<Outcome> {
  const { stream, self, remote, memberKey, random } = init
  return talk(stream, async (next) => {
    const { nonce: initiatorNonce } = await next()
    if (initiatorNonce === undefined) return 'malformed'
    const responderNonce = random.bytes(NONCE_BYTES)
    const handshake = { initiator: remote, responder: self, initiatorNonce, responderNonce }
    const own = buildProof(memberKey, 'responder', handshake)
    await writeFrame(stream, encodeHandshakeMessage({ nonce: responderNonce, proof: own }))
    const { proof } = await next()
    if (proof === undefined) return 'malformed'
    return isProof(buildProof(memberKey, 'initiator', handshake), proof) ? 'proven' : 'bad proof'
  })
}

class MalformedError extends Error {}

/** Runs one side; the stream is closed when all went well and reset otherwise. */
async function talk(
  stream: Stream,
  speak: (next: () => Promise<HandshakeMessage>) => Promise<Outcome>,
): Promise<Outcome> {
  const frames = readFrames(stream, MAX_MEMBER_MESSAGE_BYTES)
  const next = async (): Promise<HandshakeMessage> => {
    const { value, done } = await frames.next()
    if (done === true) throw new Error('the other side closed in the middle of the handshake')
    const message = decodeHandshakeMessage(value)
    if (message === undefined) throw new MalformedError('no handshake message')
    return message
  }
  let outcome: Outcome
  try {
    outcome = await speak(next)
  } catch (error) {
    outcome = isMalformed(error) ? 'malformed' : 'broken'
  }
  if (outcome === 'proven') {
    // the other side may close first, or not at all: what mattered has been said
    stream.close().catch((error: unknown) => stream.abort(toError(error)))
  } else {
    stream.abort(new Error(`member handshake: ${outcome}`))
  }
  await frames.return(undefined)
  return outcome
}

function isMalformed(error: unknown): boolean {
  return error instanceof MalformedError || (error instanceof Error && error.name === 'FrameTooLongError')
}
