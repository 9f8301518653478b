/** Cuts a stream of bytes into IP packets by the lengths in their headers (docs/WIRE.md 5.1). Pure. */

/** The bytes that tell a packet's length: IPv4's stands in the first 4, IPv6's in the first 6. */
const LENGTH_KNOWN_BYTES = 6
const IPV6_HEADER_BYTES = 40
const LEAST_PACKET_BYTES = 20
const MAX_PACKET_BYTES = 65_535

/** The length of the packet that begins here; 0 when more bytes are needed to tell, undefined when it is none. */
export function packetLength(bytes: Uint8Array): number | undefined {
  const [first, , b2 = 0, b3 = 0, b4 = 0, b5 = 0] = bytes
  if (first === undefined) return 0
  const version = first >> 4
  if (version !== 4 && version !== 6) return undefined
  if (bytes.length < (version === 4 ? 4 : LENGTH_KNOWN_BYTES)) return 0
  const length = version === 4 ? (b2 << 8) | b3 : IPV6_HEADER_BYTES + ((b4 << 8) | b5)
  return length < LEAST_PACKET_BYTES || length > MAX_PACKET_BYTES ? undefined : length
}

/** The finds of `packetsOf`, as views of its input. */
interface PacketsFound {
  /** The whole packets, one behind the other. */
  readonly packets: Uint8Array
  /** The beginning of a packet whose end has not come. */
  readonly rest: Uint8Array
  /** True when what follows the packets is none; `rest` is empty then. */
  readonly bad: boolean
}

export function packetsOf(bytes: Uint8Array): PacketsFound {
  let end = 0
  for (;;) {
    const length = packetLength(bytes.subarray(end, end + LENGTH_KNOWN_BYTES))
    if (length === undefined) return { packets: bytes.subarray(0, end), rest: new Uint8Array(), bad: true }
    if (length === 0 || end + length > bytes.length) {
      return { packets: bytes.subarray(0, end), rest: bytes.subarray(end), bad: false }
    }
    end += length
  }
}

/** @param onPackets gets whole packets, one behind the other, to read before it returns */
export function createPacketGatherer(onPackets: (packets: Uint8Array) => void) {
  /** The packet that has begun, or as much of it as tells its length. */
  let begun = new Uint8Array()
  let filled = 0
  let bad = false

  function begin(rest: Uint8Array): void {
    begun = new Uint8Array(packetLength(rest) || LENGTH_KNOWN_BYTES)
    begun.set(rest)
    filled = rest.length
  }

  /** Adds to the packet that has begun. @returns how many bytes it took */
  function fill(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, begun.length - filled)
    begun.set(bytes.subarray(0, taken), filled)
    filled += taken
    return taken
  }

  function whole(bytes: Uint8Array): void {
    const found = packetsOf(bytes)
    if (found.packets.length > 0) onPackets(found.packets)
    bad = found.bad
    filled = 0
    begun = new Uint8Array()
    if (found.rest.length > 0) begin(found.rest)
  }

  return {
    /** Takes the next bytes. False when they are no packet: nothing more is taken then. */
    push(bytes: Uint8Array): boolean {
      let from = 0
      // at most two rounds: the length, then the packet
      while (!bad && filled > 0 && from < bytes.length) {
        from += fill(bytes.subarray(from))
        if (filled === begun.length) whole(begun)
      }
      if (!bad && from < bytes.length) whole(bytes.subarray(from))
      return !bad
    },
    /** The memory that the beginning of a packet takes, in bytes. */
    get held() {
      return begun.length
    },
  }
}
