/** Picks the address by which a guest reaches this node. */
import type { IpAddress } from '@mesh/core'
import { endpointText } from '@mesh/engine'
import { isIpv4 } from '../addresses/ip-math.ts'
import type { Candidate } from '../wire/control-message.ts'
import { hostPrefix, isPublic } from '../addresses/prefix.ts'

/**
 * The place at which a guest most probably finds this node: where others see its socket, before the interfaces' own
 * addresses; of the Internet before private ones, IPv4 before IPv6.
 */
export function bestEndpoint(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.toSorted((one, other) => rankOf(one) - rankOf(other))[0]
}

function rankOf({ endpoint: { address }, kind }: Candidate): number {
  const isElsewhere = isPublic(hostPrefix(address)) ? 0 : 4
  return isElsewhere + (isIpv4(address) ? 0 : 2) + (kind === 'own' ? 1 : 0)
}

/** Writes what a person gave as an endpoint with the node's port, unless it names one: `vpn.example.org`. */
export function withPort(given: string, port: number): string {
  if (/^\[.*\]$/.test(given)) return `${given}:${port}`
  const colons = given.split(':').length - 1
  if (colons === 0) return `${given}:${port}`
  return colons > 1 && !given.startsWith('[') ? endpointText({ address: given as IpAddress, port }) : given
}
