/**
 * Is SQLite's write-ahead log what was written? SQLite takes the first frame that does not fit its checksum for the end of
 * the log, so that one flipped byte ends all blocks behind it without a word. The form is SQLite's, 'WAL File Format'.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** Where a frame says how many pages the file has after its transaction; 0 in all but a transaction's last frame. */
const PAGES_AT = 4
/** The header's first four bytes, where checksums are made of little-endian words; one more for big-endian ones. */
const MAGIC = 0x377f0682
/** No page of SQLite's is longer. */
const MAX_PAGE_BYTES = 65_536

type Sums = readonly [number, number]

/**
 * True when the log of a file ends too early: its header is wrong, or one of its frames is, and two transactions end at or
 * behind that frame. Remains of an earlier use of the log do not count. Neither does a last transaction that was cut short
 * or rolled back.
 */
export function isLogBroken(path: string): boolean {
  let log: number
  try {
    log = openSync(`${path}-wal`, 'r')
  } catch {
    return false
  }
  try {
    return isBroken(log, fstatSync(log).size)
  } finally {
    closeSync(log)
  }
}

function isBroken(log: number, size: number): boolean {
  if (size <= HEADER_BYTES) return false
  const header = Buffer.alloc(HEADER_BYTES)
  readSync(log, header, 0, HEADER_BYTES, 0)
  const isBig = header.readUInt32BE(0) === MAGIC + 1
  const pageBytes = header.readUInt32BE(8)
  let sums = addWords([0, 0], header.subarray(0, 24), isBig)
  const isSound = isBig || header.readUInt32BE(0) === MAGIC
  if (!isSound || !isSum(header, 24, sums) || pageBytes < 512 || pageBytes > MAX_PAGE_BYTES) return true
  const salt = header.subarray(16, 24)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes)
  let hasEnded = false
  /** Transactions of this use of the log that end where it should have ended, or behind. */
  let lost = 0
  for (let at = HEADER_BYTES; at + frame.length <= size; at += frame.length) {
    readSync(log, frame, 0, frame.length, at)
    const isOfThisUse = frame.subarray(8, 16).equals(salt)
    if (!hasEnded && isOfThisUse) {
      const withHeader = addWords(sums, frame.subarray(0, 8), isBig)
      sums = addWords(withHeader, frame.subarray(FRAME_HEADER_BYTES), isBig)
    }
    hasEnded ||= !isOfThisUse || !isSum(frame, 16, sums)
    const isLast = frame.readUInt32BE(PAGES_AT) !== 0
    if (hasEnded && isOfThisUse && isLast && ++lost > 1) return true
  }
  return false
}

function addWords([first, second]: Sums, bytes: Buffer, isBig: boolean): Sums {
  let [s0, s1] = [first, second]
  for (let at = 0; at < bytes.length; at += 8) {
    s0 = (s0 + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + s1) >>> 0
    s1 = (s1 + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + s0) >>> 0
  }
  return [s0, s1]
}

function isSum(bytes: Buffer, at: number, [s0, s1]: Sums): boolean {
  return bytes.readUInt32BE(at) === s0 && bytes.readUInt32BE(at + 4) === s1
}
