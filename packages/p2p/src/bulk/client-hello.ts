/** Reads one thing from a TLS ClientHello: whose pre-shared key the client says that it holds (RFC 8446, 4.1.2, 4.2.11). */

const HANDSHAKE_RECORD = 22
const CLIENT_HELLO = 1
const PRE_SHARED_KEY = 41
/** Type, version and length of the record; type and length of the message; version and random. */
const BEFORE_SESSION_ID = 5 + 4 + 2 + 32

/** Returns the first identity; undefined for no whole ClientHello in one record, or one without a pre-shared key. */
export function pskIdentityOf(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength < BEFORE_SESSION_ID || bytes[0] !== HANDSHAKE_RECORD || bytes[5] !== CLIENT_HELLO) {
    return undefined
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    return readIdentity(view)
  } catch (error) {
    // a length that leads beyond the end
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function readIdentity(view: DataView): string | undefined {
  let at = BEFORE_SESSION_ID
  at += 1 + view.getUint8(at)
  at += 2 + view.getUint16(at)
  at += 1 + view.getUint8(at)
  const end = at + 2 + view.getUint16(at)
  at += 2
  while (at < end) {
    const type = view.getUint16(at)
    if (type === PRE_SHARED_KEY) return firstIdentity(view, at + 4)
    at += 4 + view.getUint16(at + 2)
  }
  return undefined
}

function firstIdentity(view: DataView, at: number): string {
  const length = view.getUint16(at + 2)
  if (at + 4 + length > view.byteLength) throw new RangeError('the identity is cut')
  return new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at + 4, length))
}
