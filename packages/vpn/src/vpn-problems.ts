import { type Cidr, MeshError } from '@mesh/core'
import type { Clash } from './addresses/check-addresses.ts'
import { isIpv4 } from './addresses/ip-math.ts'
import type { VpnHost, VpnProblem } from './vpn.ts'

/** The problem that an error which lasts is to a person. */
export function problemOf(error: Error, since?: number): VpnProblem {
  const isMesh = error instanceof MeshError
  return {
    code: isMesh ? error.code : 'vpn.failed',
    severity: 'error',
    title: error.message,
    hint: (isMesh ? error.hint : undefined) ?? 'See the log; restart the node if this lasts.',
    ...(since !== undefined && { since }),
  }
}

/** The problem of a network of this machine that came while the VPN runs, and has its addresses. */
export function networkInRange({ range, network: { interface: name, address } }: Clash): VpnProblem {
  return {
    code: 'vpn.address_in_use',
    severity: 'error',
    title: `The network ${address.range} of ${name} overlaps with the VPN's range ${range}: packets for machines of ${name}, its router among them, may go into the VPN`,
    hint: `Stop the node to reach ${name}'s network and what lies behind it. To have both, restart all nodes with a range that no network of theirs has, with one address each: --address 10.77.0.11/24.`,
  }
}

/** The step that gives new interfaces of this machine IPv6. */
export const IPV6_ON =
  'Switch it on: `sysctl -w net.ipv6.conf.default.disable_ipv6=0` (where the kernel has no such setting: boot without `ipv6.disable=1`), then restart the node.'

/** The problem of a machine that gives its interfaces no IPv6. */
export function noIpv6(name: string): VpnProblem {
  return {
    code: 'vpn.no_ipv6',
    severity: 'warning',
    title: `IPv6 is switched off on this machine: ${name} has IPv4 only`,
    hint: `${IPV6_ON} If this machine is to have no IPv6, there is nothing to do.`,
  }
}

export function interfaceLost(name: string, error: Error | undefined, since: number): VpnProblem {
  return {
    code: 'vpn.interface_lost',
    severity: 'error',
    title: `The interface ${name} was taken away${error === undefined ? '' : `: ${error.message}`}`,
    hint:
      error === undefined
        ? 'It is made again at once.'
        : 'Find out what removes it (a network manager, a second VPN), then restart the node.',
    since,
  }
}

/** The problem of an interface that lacks what the kernel refuses to put back. */
export function interfaceNotRestored(name: string, failed: readonly string[]): VpnProblem {
  return {
    code: 'vpn.interface_changed',
    severity: 'error',
    title: `Another program changed ${name}, and the kernel refuses to put back: ${failed.join(', ')}`,
    hint: `Undo what the other program did (\`ip address\`, \`ip route\`, \`sysctl net.ipv6.conf.${name}.disable_ipv6\`). The node tries again every 10 s.`,
  }
}

/** The problem of an interface that another program keeps changing. */
export function interfaceContested(name: string, taken: readonly string[]): VpnProblem {
  return {
    code: 'vpn.interface_changed',
    severity: 'error',
    title: `Another program takes away from ${name} again and again: ${taken.join(', ')}`,
    hint: `Find it and let it leave ${name} alone, for NetworkManager \`nmcli device set ${name} managed no\`; \`ip monitor\` shows each change. Until then the node puts things back once a minute.`,
  }
}

export function routesNotSet(error: Error): VpnProblem {
  return {
    code: 'vpn.routes_not_set',
    severity: 'warning',
    title: `The kernel refused routes of other members: ${error.message}`,
    hint: 'Look for the same routes of another program (`ip route`), or do not accept routes.',
  }
}

/** The problem of a node that advertises routes which its kernel does not pass on. */
export function notForwarding(
  routes: readonly Cidr[],
  host: VpnHost,
  what = 'Routes are advertised',
): VpnProblem[] {
  const families = [
    { is: isIpv4, family: 'ipv4', name: 'IPv4', setting: 'net.ipv4.ip_forward' },
    {
      is: (range: Cidr) => !isIpv4(range),
      family: 'ipv6',
      name: 'IPv6',
      setting: 'net.ipv6.conf.all.forwarding',
    },
  ] as const
  return families
    .filter(({ is, family }) => routes.some(is) && host.forwards(family) === false)
    .map(({ name, setting }) => ({
      code: 'vpn.not_forwarding',
      severity: 'warning',
      title: `${what}, but this machine does not forward ${name}`,
      hint: `Turn it on: \`sysctl -w ${setting}=1\`, and let the firewall pass it.`,
    }))
}
