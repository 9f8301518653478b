/** Explains failed dials and streams to people. */

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the machine answers, but nothing listens on that port',
  EHOSTUNREACH: 'no route to that address',
  ENETUNREACH: 'no network towards that address',
  ETIMEDOUT: 'no answer',
  ECONNRESET: 'the other side closed the connection',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve now',
  EACCES: 'the system does not allow it',
}

const BY_NAME: Readonly<Record<string, string>> = {
  TimeoutError: 'no answer',
  AbortError: 'given up',
  ConnectionDeniedError: 'refused: too many connections',
  DialDeniedError: 'every address lies in a range that is kept out',
  EncryptionFailedError: 'the handshake failed: it is another peer, or no libp2p',
  UnexpectedPeerError: 'another peer answers at that address',
  InvalidCryptoExchangeError: 'the handshake failed: it is another peer, or no libp2p',
  TransportUnavailableError: 'an address of a kind that this node does not speak',
  NoValidAddressesError: 'no address that this node can dial',
  LimitedConnectionError: 'only a relayed connection stands',
}

/** Says in at most a line why a dial or stream failed; the first cause that is known wins. */
export function describeDialError(error: unknown): string {
  for (const cause of causes(error)) {
    const words = BY_CODE[codeOf(cause)] ?? BY_NAME[nameOf(cause)]
    if (words !== undefined) return words
  }
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0]?.slice(0, 200) ?? 'unknown'
}

function* causes(error: unknown, depth = 0): Generator<unknown> {
  if (depth > 4) return
  yield error
  if (error instanceof AggregateError)
    for (const inner of error.errors.slice(0, 8)) yield* causes(inner, depth + 1)
  if (error instanceof Error && error.cause !== undefined) yield* causes(error.cause, depth + 1)
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}
