/**
 * Looks at a protobuf message before it is decoded: decoders make an object of each field, and what they
 * make is gone through, so that a few megabytes of fields without content, or one id as long as a message, would keep a
 * node busy for seconds or for hours (base58 of an id takes time by the square of its length).
 */
import { reader } from 'protons-runtime'

/** The fields of a message that have bounds, by their numbers; others may have any content. */
export interface MessageShape {
  readonly [field: number]: {
    /** How many bytes the field may have. */
    readonly maxBytes?: number
    /** The fields of the field itself, where it is a message. */
    readonly shape?: MessageShape
  }
}

interface ShapeBounds {
  readonly shape: MessageShape
  /** How many fields the message may have, those of the messages in it included. */
  readonly maxFields: number
}

const LENGTH_DELIMITED = 2
const NONE: MessageShape[number] = {}

/** False for what has too many fields, too long ones, or is no message. Takes time for each field, not for their content. */
export function hasShape(bytes: Uint8Array, { shape, maxFields }: ShapeBounds): boolean {
  const input = reader(bytes)
  let fields = 0
  const isWithin = (end: number, within: MessageShape): boolean => {
    while (input.pos < end) {
      if (++fields > maxFields) return false
      const tag = input.uint32()
      const { maxBytes = Number.POSITIVE_INFINITY, shape: inner } = within[tag >>> 3] ?? NONE
      if ((tag & 7) !== LENGTH_DELIMITED) {
        if (!skipNumber(tag & 7)) return false
        continue
      }
      const length = input.uint32()
      const fieldEnd = input.pos + length
      if (fieldEnd > end || length > maxBytes) return false
      if (inner === undefined) input.skip(length)
      else if (!isWithin(fieldEnd, inner)) return false
    }
    return input.pos === end
  }
  /** Groups, which may hold each other, are no part of any protocol here. */
  const skipNumber = (type: number): boolean => {
    if (type !== 0 && type !== 1 && type !== 5) return false
    input.skipType(type)
    return true
  }
  try {
    return isWithin(input.len, shape)
  } catch {
    return false
  }
}
