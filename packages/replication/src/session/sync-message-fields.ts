/** Numbers of the fields of a sync message (docs/PROTOCOLS.md, 'Replication'). */
import type { Position } from '@mesh/ledger'

/** A field's tag: its number and its wire type (0 varint, 1 and 5 fixed 64 and 32, 2 with a length). */
const tag = (field: number, wireType: 0 | 1 | 2 | 5) => (field << 3) | wireType

export const MESSAGE = {
  hello: tag(1, 2),
  range: tag(2, 2),
  list: tag(3, 2),
  want: tag(4, 2),
  entry: tag(5, 2),
  refused: tag(6, 2),
  more: tag(7, 0),
}
export const HELLO = { size: tag(1, 0), digest: tag(2, 2), heartbeats: tag(3, 2), nowMs: tag(4, 0) }
export const RANGE = {
  from: tag(1, 2),
  to: tag(2, 2),
  continued: tag(3, 0),
  count: tag(4, 0),
  fingerprint: tag(5, 2),
  item: tag(6, 2),
}
export const POSITION = { bucket: tag(1, 2), key: tag(2, 2) }
export const ITEM = {
  position: tag(1, 2),
  version: tag(2, 1),
  hash: tag(3, 2),
  owner: tag(4, 5),
  deleted: tag(5, 0),
}
export const ENTRY = {
  position: tag(1, 2),
  value: tag(2, 2),
  owner: tag(3, 2),
  version: tag(4, 1),
  updatedAt: tag(5, 0),
  deleted: tag(6, 0),
  sig: tag(7, 2),
}
export const REFUSED = { hash: tag(1, 2), code: tag(2, 2) }

/** The position that a message has come to, which the next field may leave out. */
export interface Context {
  bucket: string
  end: Position | undefined
}
