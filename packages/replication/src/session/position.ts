/** Ranges of the ledger's order, and bytes. */
import { BUCKETS } from '@mesh/core'
import { comparePositions, type PositionRange } from '@mesh/ledger'

export const WHOLE_LEDGER: PositionRange = { from: undefined, to: undefined }

export const HEARTBEATS: PositionRange = {
  from: { bucket: BUCKETS.healthcheck, key: '' },
  to: { bucket: `${BUCKETS.healthcheck}\0`, key: '' },
}

/** False for a range that ends where, or before, it begins. */
export function isRange({ from, to }: PositionRange): boolean {
  return from === undefined || to === undefined || comparePositions(from, to) < 0
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return true
}

/** A text for use as a map's key. */
export function hexOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}
