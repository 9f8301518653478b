/** Questions about JSON text that are answered without building values. */

/** Are objects or arrays nested deeper than `depth`? For valid JSON; any answer for other text. */
export function isNestedDeeper(text: string, depth: number): boolean {
  // most values: not enough brackets to be deep, found without looking at each character here
  if (text.length <= depth) return false
  let level = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (inString) {
      if (char === 0x5c) at++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x7b || char === 0x5b) {
      level++
      if (level > depth) return true
    } else if (char === 0x7d || char === 0x5d) level--
  }
  return false
}

/** Undefined when the text is no JSON (which no JSON value is). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
