/** Finds what disturbs a machine that is an exit, or a router of its networks, by name and with what to do. What was read of the machine is handed in. */
import type { ExitFault, IpFamily, VpnProblem } from '@mesh/vpn'
import { droppingChains } from '../system/nft-ruleset.ts'

/** How a machine that is an exit is set up. */
export interface OfferFacts {
  /** The interface of the VPN. */
  readonly interface: string
  /** The output of `nft list ruleset`; '' where it cannot be had. */
  readonly ruleset: string
  /** The machine has a DNS server that members can be sent to. */
  readonly hasResolver: boolean
  /** The families that are offered, and in which the machine has no route to the Internet. */
  readonly wayless: readonly IpFamily[]
}

/** A problem that members who use the exit hear of as well, by its code. */
export interface OfferProblem extends VpnProblem {
  readonly code: ExitFault
}

export function findOfferProblems(facts: OfferFacts): readonly OfferProblem[] {
  return [...droppingFirewall(facts), ...noWay(facts), ...noResolver(facts)]
}

/** The problems of a machine that routes networks of its own for members, and is no exit. */
export function findRouterProblems(facts: Pick<OfferFacts, 'interface' | 'ruleset'>): readonly VpnProblem[] {
  return droppingFirewall(facts).map(({ title, ...problem }) => ({
    ...problem,
    code: 'vpn.route_firewall',
    title: `${title}: members may not reach the networks of --advertise-route`,
  }))
}

function droppingFirewall({
  ruleset,
  interface: name,
}: Pick<OfferFacts, 'interface' | 'ruleset'>): OfferProblem[] {
  const chains = droppingChains(ruleset, name)
  if (chains.length === 0) return []
  return [
    {
      code: 'exit.firewall',
      severity: 'warning',
      title: `A firewall drops what it does not know of forwarded packets (chain ${chains.slice(0, 3).join(', ')})`,
      hint: `Let it pass what comes from the interface of the VPN and the answers: with Docker \`iptables -I DOCKER-USER -i ${name} -j ACCEPT && iptables -I DOCKER-USER -o ${name} -j ACCEPT\`, with firewalld \`firewall-cmd --zone=trusted --add-interface=${name}\`.`,
    },
  ]
}

/** The settings of the kernel by which it forwards. */
export const SETTINGS = { ipv4: 'net.ipv4.ip_forward', ipv6: 'net.ipv6.conf.all.forwarding' } as const

function noWay({ wayless }: OfferFacts): OfferProblem[] {
  return wayless.map((family) => ({
    code: 'exit.no_route',
    severity: 'warning',
    title: `This exit has no default route of ${family.replace('ip', 'IP')}: what members send to the Internet over it ends here`,
    hint: `Give the machine one; or let members know that there is none: \`sysctl -w ${SETTINGS[family]}=0\`.`,
  }))
}

function noResolver({ hasResolver }: OfferFacts): OfferProblem[] {
  if (hasResolver) return []
  return [
    {
      code: 'exit.no_resolver',
      severity: 'warning',
      title: 'This exit has no DNS server to send members to, whose own is in their local network',
      hint: 'Name one in /etc/resolv.conf that is not of this machine itself: the node takes it within half a minute.',
    },
  ]
}
