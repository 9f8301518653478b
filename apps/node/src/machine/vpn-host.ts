/**
 * Answers what the VPN asks of this machine: its networks, whether it forwards and has IPv6, and how Go names its system.
 */
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { tryParseAddressInRange } from '@mesh/core'
import { forwards } from '@mesh/exit-node'
import type { P2pMember } from '@mesh/p2p/node'
import type { HostNetwork, MachineDescription, VpnHost } from '@mesh/vpn'
import { version } from '../version.ts'
import { hostRoutes } from './host-routes.ts'

export function createVpnHost(
  p2p: Pick<P2pMember, 'remoteAddresses'>,
  told: Required<Pick<VpnHost, 'problems' | 'watchProblems'>>,
): VpnHost {
  return {
    networks: () => hostNetworks(networkInterfaces()),
    routes: (except) => hostRoutes(except),
    remoteAddresses: () => p2p.remoteAddresses(),
    forwards,
    hasIpv6: () => hasIpv6(),
    problems: () => told.problems(),
    watchProblems: (listener) => told.watchProblems(listener),
  }
}

/** The networks of the interfaces that are up. */
export function hostNetworks(interfaces: ReturnType<typeof networkInterfaces>): readonly HostNetwork[] {
  return Object.entries(interfaces).flatMap(([name, entries = []]) =>
    entries.flatMap(({ cidr }) => {
      const address = cidr === null ? undefined : tryParseAddressInRange(cidr)
      return address === undefined ? [] : [{ interface: name, address }]
    }),
  )
}

/** Says whether the kernel gives a new interface IPv6. */
export function hasIpv6(folder = '/proc/sys/net/ipv6'): boolean {
  try {
    return readFileSync(`${folder}/conf/default/disable_ipv6`, 'utf8').trim() === '0'
  } catch {
    // a kernel without IPv6
    return false
  }
}

const GO_SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows', sunos: 'solaris' }
const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }

/** Describes the machine with the names of systems and processors that legacy members use, too. */
export function describeMachine(
  name: string,
  { platform, arch }: Pick<NodeJS.Process, 'platform' | 'arch'>,
): MachineDescription {
  return {
    Hostname: name,
    OS: GO_SYSTEMS[platform] ?? platform,
    Arch: GO_ARCHITECTURES[arch] ?? arch,
    Version: version,
  }
}
