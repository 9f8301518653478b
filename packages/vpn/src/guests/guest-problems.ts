/** The problems of guests whose configurations do not fit the node any more. Pure. */
import type { Cidr } from '@mesh/core'
import { endpointText } from '@mesh/engine'
import type { Candidate } from '../wire/control-message.ts'
import { covers, hostPrefix, prefixOf } from '../addresses/prefix.ts'
import type { VpnProblem } from '../vpn.ts'
import { bestEndpoint } from './guest-configuration.ts'
import type { FoundAddress, Guest } from './guest-file.ts'

interface GuestProblemsInput {
  readonly guests: readonly Guest[]
  /** The UDP port that the guests know, and the one that the node has. */
  readonly known: number | undefined
  readonly port: number | undefined
  /** The places at which the node may be found now. */
  readonly candidates: () => readonly Candidate[]
  /** The node's VPN ranges. */
  readonly ranges: readonly Cidr[]
  /** This node has an exit, or is one. */
  readonly hasExit: () => boolean
}

export function guestProblems(input: GuestProblemsInput): readonly VpnProblem[] {
  if (input.guests.length === 0) return []
  const cutOff = otherPort(input)
  const lost = cutOff.length > 0 ? [] : otherPlace(input)
  return [...cutOff, ...lost, ...outsideRanges(input), ...withoutExit(input)]
}

function otherPort({ guests: { length }, known, port }: GuestProblemsInput): VpnProblem[] {
  if (known === undefined || port === known) return []
  const guests = length === 1 ? 'The guest of this node is' : `${length} guests of this node are`
  return [
    {
      code: 'vpn.guest_port',
      severity: 'error',
      title: `${guests} cut off: they know UDP port ${known}, and ${port === undefined ? 'this node has none' : `this node has ${port}`}`,
      hint: `Start the node with --udp-port ${known}, after ending what else uses that port (\`ss -ulpn\`); or add the guests anew.`,
    },
  ]
}

/**
 * The guests whose configurations name a place at which this node is not any more. Where it is seen from outside is not
 * known before somebody has told it.
 */
export function findLost(guests: readonly Guest[], candidates: readonly Candidate[]): readonly Guest[] {
  const isTold = candidates.some(({ kind }) => kind !== 'own')
  const isAt = ({ address, port }: FoundAddress) =>
    candidates.some(
      ({ endpoint, kind }) =>
        endpoint.address === address && (kind === 'own' || port === undefined || port === endpoint.port),
    )
  const isLost = (found: FoundAddress) => (found.isOwn || isTold) && !isAt(found)
  return candidates.length === 0 ? [] : guests.filter(({ found }) => found !== undefined && isLost(found))
}

function otherPlace({ guests, candidates }: GuestProblemsInput): VpnProblem[] {
  const all = candidates()
  const lost = findLost(guests, all)
  const best = bestEndpoint(all)
  if (lost.length === 0 || best === undefined) return []
  const places = lost.map(({ endpoint, found }) => endpoint ?? found?.address)
  const at = [...new Set(places)].slice(0, 3).join(', ')
  return [
    {
      code: 'vpn.guest_endpoint',
      severity: 'warning',
      title: `Guests look for this node where it is not any more: ${namesOf(lost)} at ${at}`,
      hint: `Change \`Endpoint\` in their apps to ${endpointText(best.endpoint)}, or add them anew; a host name that follows the machine lasts: --guest-endpoint.`,
    },
  ]
}

/** Their packets for the Internet are dropped here: they have no other way. */
function withoutExit({ guests, hasExit }: GuestProblemsInput): VpnProblem[] {
  const cutOff = guests.filter(({ fullTunnel }) => fullTunnel)
  if (cutOff.length === 0 || hasExit()) return []
  return [
    {
      code: 'vpn.guest_no_exit',
      severity: 'warning',
      title: `Guests send all to this node, which has no exit for what is for the Internet: ${namesOf(cutOff)}`,
      hint: 'Choose an exit node (`mesh exit-node PEER`, or start with --exit-node), offer one (--advertise-exit), or add them anew without --full-tunnel.',
    },
  ]
}

function outsideRanges({ guests, ranges }: GuestProblemsInput): VpnProblem[] {
  const prefixes = ranges.map(prefixOf)
  const outside = guests.filter(
    ({ address }) => !prefixes.some((prefix) => covers(prefix, hostPrefix(address))),
  )
  if (outside.length === 0) return []
  return [
    {
      code: 'vpn.guest_outside',
      severity: 'error',
      title: `Guests have addresses outside of this node's range, and members do not reach them: ${namesOf(outside)}`,
      hint: 'Give the node the range that they were added in (--address), or remove them and add them anew.',
    },
  ]
}

function namesOf(guests: readonly Guest[]): string {
  const names = guests.slice(0, 3).map(({ name }) => name)
  return `${names.join(', ')}${guests.length > names.length ? ` and ${guests.length - names.length} more` : ''}`
}
