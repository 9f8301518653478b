/** Which transport listens where. */
import { type Issue, MeshError } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { transportOf, tryParseMultiaddr } from '../addresses/address-rules.ts'
import type { Switches } from './switches.ts'

/** The addresses to listen on, by transport; empty for one that only dials. */
export interface ListenPlan {
  readonly tcp: readonly Multiaddr[]
  readonly ws: readonly Multiaddr[]
  readonly quic: readonly Multiaddr[]
  readonly webrtcDirect: readonly Multiaddr[]
  /** All IPs that are listened on, for mDNS and STUN. */
  readonly ips: readonly string[]
}

const ANY = {
  tcp: ['/ip4/0.0.0.0/tcp/0', '/ip6/::/tcp/0'],
  ws: ['/ip4/0.0.0.0/tcp/0/ws'],
  quic: ['/ip4/0.0.0.0/udp/0/quic-v1', '/ip6/::/udp/0/quic-v1'],
  webrtcDirect: ['/ip4/0.0.0.0/udp/0/webrtc-direct'],
} as const

const KINDS = { tcp: 'tcp', ws: 'ws', 'quic-v1': 'quic', 'webrtc-direct': 'webrtcDirect' } as const

type Kind = keyof typeof ANY

/**
 * Sorts the listen addresses by transport.
 *
 * @throws MeshError `p2p.bad_listen_address` with a reason for each address that no transport takes
 */
export function planListening(texts: readonly string[] | undefined, switches: Switches): ListenPlan {
  const plan: Record<Kind, Multiaddr[]> = { tcp: [], ws: [], quic: [], webrtcDirect: [] }
  const issues: Issue[] = []
  const chosen =
    texts ?? (Object.keys(ANY) as Kind[]).filter((kind) => switches[kind]).flatMap((kind) => ANY[kind])
  for (const text of chosen) {
    const address = tryParseMultiaddr(text)
    const transport = address === undefined ? undefined : transportOf(address)
    const kind =
      transport !== undefined && transport in KINDS ? KINDS[transport as keyof typeof KINDS] : undefined
    if (address === undefined || kind === undefined) {
      issues.push({
        field: 'listen',
        value: text.slice(0, 200),
        expected: 'a tcp, ws, quic-v1 or webrtc-direct multiaddr',
      })
    } else if (!switches[kind]) {
      issues.push({
        field: 'listen',
        value: text.slice(0, 200),
        expected: `the transport ${transport} turned on`,
      })
    } else {
      plan[kind].push(address)
    }
  }
  if (issues.length > 0) {
    throw new MeshError('p2p.bad_listen_address', `cannot listen on ${issues[0]?.value ?? ''}`, {
      issues,
      hint: 'A listen address looks like /ip4/0.0.0.0/tcp/4001.',
    })
  }
  const ips = Object.values(plan)
    .flat()
    .map((address) => address.getComponents()[0]?.value ?? '')
  return { ...plan, ips: [...new Set(ips)] }
}
