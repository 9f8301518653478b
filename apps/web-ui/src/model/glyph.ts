/**
 * A peer's mark: five by five cells, symmetric, and a hue, all computed from its id, so that people recognise a
 * machine before they have read its name. The command line draws the same cells.
 */
export interface Glyph {
  /** The hue, in degrees of oklch. */
  readonly hue: number
  /** SVG path over a grid of 5 by 5 units. */
  readonly path: string
}

const COLUMNS_DRAWN = 3
const SIZE = 5

export function buildGlyph(id: string): Glyph {
  let path = ''
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < COLUMNS_DRAWN; x++) {
      if ((hash(`${id}${x}${y}`) & 1) === 0) continue
      path += `M${x} ${y}h1v1h-1z`
      if (x < COLUMNS_DRAWN - 1) path += `M${SIZE - 1 - x} ${y}h1v1h-1z`
    }
  }
  return { hue: hash(id) % 360, path }
}

/** FNV-1a with a final mix; 32 bits. */
function hash(text: string): number {
  let mixed = 2166136261
  for (let at = 0; at < text.length; at++) mixed = Math.imul(mixed ^ text.charCodeAt(at), 16777619)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 13)) >>> 0
}
