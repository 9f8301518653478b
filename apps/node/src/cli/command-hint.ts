/** Gives the advice of the command line, where the node's answer speaks to anyone who asks over HTTP. */
import { MeshError } from '@mesh/core'

/**
 * The hint to print with an error: the catalogue's own for commands in place of the one for requests. An advice that
 * belongs to the one case (a name, an address) stays as it is. Undefined: the error has none.
 */
export async function commandHintOf(error: unknown): Promise<string | undefined> {
  if (!(error instanceof MeshError)) return undefined
  // only what came from a node can be of its catalogue: commands that ask none need not load it
  if (!('requestId' in error)) return error.hint
  const { hintOf, isErrorCode } = await import('@mesh/api-contract')
  const { code, hint } = error
  return isErrorCode(code) && hint === hintOf(code, 'http') ? hintOf(code, 'command') : hint
}
