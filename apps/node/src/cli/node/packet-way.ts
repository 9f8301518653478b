import type { VpnPeerView } from '@mesh/api-contract'

/** Why packets do not go over UDP where they might, in a few words; `mesh ping PEER --path` says more. */
const NO_UDP: Readonly<Partial<Record<NonNullable<VpnPeerView['UDP']['Reason']>, string>>> = {
  searching: 'UDP is tried',
  blocked: 'UDP is blocked',
  'one-way': 'UDP is blocked one way',
  'both-vary': 'both NATs vary their ports',
  'one-varies': 'one NAT varies its ports, the other lets in only known ones',
  'same-nat': 'one NAT before both keeps UDP apart',
  'too-small': 'UDP passes no 1280 bytes',
  'too-slow': 'UDP takes more than a second',
}

/**
 * `direct udp 192.0.2.7:51820`, `direct tcp`, `relayed tcp, UDP is blocked`, `direct tcp, unsealed`, `not connected`.
 */
export function wayOf({ Way, Path, Transport, UDP }: VpnPeerView): string {
  if (UDP.Endpoint !== null)
    return `direct udp ${UDP.Endpoint}${UDP.State === 'suspect' ? ' and stream' : ''}`
  if (Path === null) return 'not connected'
  const path = Transport === null ? Path : `${Path} ${Transport}`
  if (Way === 'plain') return `${path}, unsealed`
  const why = UDP.Reason === null ? undefined : NO_UDP[UDP.Reason]
  return why === undefined ? path : `${path}, ${why}`
}
