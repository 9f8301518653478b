/** The common part of the pings of peers and of machines. */
import { isErrorCode } from '@mesh/api-contract'
import { type Clock, MeshError } from '@mesh/core'
import { PING_TIMEOUT_MS } from '../limits.ts'
import { Problem } from '../messages/problem.ts'

/** How many of those that share a name an answer lists. */
export const MAX_NAMED = 5

/** @throws Problem with the code, where nothing answered; what the contract knows as it is */
export async function ping<T>(
  code: 'peer.unreachable' | 'vpn.unreachable',
  probe: (signal: AbortSignal) => Promise<T>,
  clock: Clock,
): Promise<T> {
  const limit = new AbortController()
  const late = new Problem(code, `no answer within ${PING_TIMEOUT_MS / 1_000} s`)
  const cancel = clock.after(PING_TIMEOUT_MS, () => limit.abort(late))
  try {
    return await probe(limit.signal)
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    // it left the VPN just now
    if (error.code === 'vpn.unknown_peer') throw new Problem('vpn.unknown_machine')
    if (isErrorCode(error.code)) throw error
    const { message, hint } = error
    throw new Problem(code, message, { cause: error, ...(hint !== undefined && { hint }) })
  } finally {
    cancel()
  }
}

export function quote(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}
