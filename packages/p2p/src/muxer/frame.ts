/** Frames of yamux as bytes. After @libp2p/yamux 8.0.3, Apache-2.0 OR MIT; see NOTICE. */

export const FRAME_TYPE = { data: 0, windowUpdate: 1, ping: 2, goAway: 3 } as const

/** SYN opens a stream or asks a ping, ACK answers either, FIN ends one direction, RST ends the stream. */
export const FLAG = { syn: 1, ack: 2, fin: 4, rst: 8 } as const

/** Why a muxer ends. */
export const GO_AWAY = { normal: 0, protocolError: 1, internalError: 2 } as const
export type GoAway = (typeof GO_AWAY)[keyof typeof GO_AWAY]

export const HEADER_BYTES = 12
/** The window that each stream begins with, in bytes. */
export const FIRST_WINDOW_BYTES = 256 * 1024

export interface FrameHeader {
  readonly type: number
  readonly flags: number
  /** 0: the frame concerns the connection. */
  readonly streamId: number
  /** Of data its bytes, of an update the bytes that the window grows by, of a ping its id, of a GoAway the reason. */
  readonly length: number
}

/** The other side does not keep to the protocol. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

export function encodeHeader({ type, flags, streamId, length }: FrameHeader): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint8(1, type)
  view.setUint16(2, flags)
  view.setUint32(4, streamId)
  view.setUint32(8, length)
  return bytes
}

/** @throws FrameError for another version than 0 */
export function decodeHeader(bytes: Uint8Array, at: number): FrameHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES)
  if (view.getUint8(0) !== 0) throw new FrameError('a frame has an unknown version')
  return {
    type: view.getUint8(1),
    flags: view.getUint16(2),
    streamId: view.getUint32(4),
    length: view.getUint32(8),
  }
}
