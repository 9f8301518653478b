/** The record of an exit node: the families that it forwards, and what is wrong with it. */

export type IpFamily = 'ipv4' | 'ipv6'

/**
 * The faults of an exit's machine that its members are told, by the codes of its own problems. `exit.firewall`: a firewall drops
 * what is forwarded. `exit.no_route`: it has no default route of a family that it forwards. `exit.no_resolver`: it has no
 * DNS server for members whose own is in their local network.
 */
export const EXIT_FAULTS = ['exit.firewall', 'exit.no_route', 'exit.no_resolver'] as const
export type ExitFault = (typeof EXIT_FAULTS)[number]
