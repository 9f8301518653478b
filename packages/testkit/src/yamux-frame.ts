/** Types and flags of yamux's frames. */
export const YAMUX = { DATA: 0, WINDOW_UPDATE: 1, PING: 2, GO_AWAY: 3, SYN: 1, FIN: 4, RST: 8 } as const

interface YamuxHead {
  readonly type: number
  readonly flags: number
  readonly stream: number
  /** The length that the frame says to have; 0 by default. */
  readonly length?: number
}

/** The head of a frame, as whoever minds no rule of the muxer may send it. */
export function yamuxHead({ type, flags, stream, length = 0 }: YamuxHead): Uint8Array {
  const head = Buffer.alloc(12)
  head.writeUInt8(type, 1)
  head.writeUInt16BE(flags, 2)
  head.writeUInt32BE(stream, 4)
  head.writeUInt32BE(length, 8)
  return head
}
