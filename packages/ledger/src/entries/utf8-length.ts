/** UTF-8 length without encoding. */
export function utf8Length(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) continue
    if (unit < 0x800) length += 1
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      length += 2
      at++
    } else length += 2
  }
  return length
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
