/**
 * What libp2p calls `negotiateFully: false`: the protocol's name goes out with the first bytes, and the answer is read when it
 * comes. Without it a stream costs one more round trip. libp2p/specs issue 643 has what to heed.
 */
import { UnsupportedProtocolError } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'

const MULTISTREAM = '/multistream/1.0.0'
/** The longest line whose length fits a byte. */
const MAX_LINE_BYTES = 0x7f

export class LazyNegotiation {
  readonly #protocol: string
  readonly #lines: Uint8Array
  readonly #answer = new Uint8ArrayList()
  #isNamed = false
  #isAnswered = false

  constructor(protocol: string) {
    this.#protocol = protocol
    this.#lines = Uint8Array.from([...encodeLine(MULTISTREAM), ...encodeLine(protocol)])
  }

  /** False for a name that is too long, which must be negotiated in full. */
  static fits(protocol: string): boolean {
    return protocol.length < MAX_LINE_BYTES
  }

  /** Gives what goes out: the name too where it has not gone out yet. */
  send(bytes: Uint8Array | Uint8ArrayList): Uint8Array | Uint8ArrayList {
    if (this.#isNamed) return bytes
    this.#isNamed = true
    return new Uint8ArrayList(this.#lines, bytes)
  }

  /** Gives what came behind the answer. @throws UnsupportedProtocolError when the answer is another one */
  receive(bytes: Uint8Array | Uint8ArrayList): Uint8Array | Uint8ArrayList | undefined {
    if (this.#isAnswered) return bytes
    this.#answer.append(bytes)
    const length = Math.min(this.#answer.byteLength, this.#lines.byteLength)
    const isAlike = this.#answer.subarray(0, length).every((byte, at) => byte === this.#lines[at])
    if (!isAlike) throw new UnsupportedProtocolError(`the peer does not speak ${this.#protocol}`)
    if (length < this.#lines.byteLength) return undefined
    this.#isAnswered = true
    return this.#answer.sublist(length)
  }
}

function encodeLine(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(`${text}\n`)
  return Uint8Array.from([bytes.byteLength, ...bytes])
}
