/** What an error says of itself, and those that it was caused by or that it gathers. */
export interface Described {
  readonly name: string
  readonly code: string
  readonly message: string
}

/** The error first, then what caused it; of several causes each. At most so many as an error can sensibly have. */
export function errorChain(error: unknown, most = 32): readonly Described[] {
  const described: Described[] = []
  const open: unknown[] = [error]
  while (open.length > 0 && described.length < most) {
    const next = open.shift()
    if (!(next instanceof Error)) continue
    const { code, errors } = next as { readonly code?: unknown; readonly errors?: unknown }
    described.push({ name: next.name, code: typeof code === 'string' ? code : '', message: next.message })
    open.push(next.cause, ...(Array.isArray(errors) ? errors : []))
  }
  return described
}
