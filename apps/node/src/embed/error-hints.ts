/** Adds to errors of the ledger what a program can do, from the catalogue of the API. */
import { MeshError } from '@mesh/core'

/** Gives the error with the hint of the catalogue where it has none. */
export async function withHint(error: unknown): Promise<unknown> {
  if (!(error instanceof MeshError) || error.hint !== undefined) return error
  const { hintOf, isErrorCode } = await import('@mesh/api-contract')
  const { code, message, details, issues, cause } = error
  if (!isErrorCode(code)) return error
  return new MeshError(code, message, { hint: hintOf(code, 'http'), details, issues, cause })
}
