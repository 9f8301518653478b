const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"{}[\],:]+|[{}[\],:]/g

/** Valid JSON, indented by two spaces. Token by token, so that no number or key order changes. */
export function indentJson(json: string): string {
  const parts: string[] = []
  let depth = 0
  /** An object or array was opened and holds nothing yet. */
  let opened = false
  const newLine = () => parts.push('\n', '  '.repeat(depth))
  for (const [token] of json.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']'
    if (closes) {
      depth--
      if (!opened) newLine()
    } else if (opened) newLine()
    opened = token === '{' || token === '['
    if (opened) depth++
    parts.push(token === ':' ? ': ' : token)
    if (token === ',') newLine()
  }
  return `${parts.join('')}\n`
}
