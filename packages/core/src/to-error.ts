/** Gives the thrown value itself when it is an `Error`, and an `Error` with its text otherwise. */
export function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}
