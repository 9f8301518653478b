import { type Cidr, MeshError } from '@mesh/core'
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
