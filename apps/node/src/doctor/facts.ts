/** The facts that the doctor judges: of this machine, and what the running node says. Checks take these and do no IO. */
import type {
  DnsServerView,
  HealthView,
  MachineView,
  NodeFactsView,
  PeerView,
  ReachabilityView,
  RulesView,
  VpnView,
} from '@mesh/api-contract'
import type { EngineSupport } from '@mesh/engine'
import type { VpnProblem } from '@mesh/vpn'
import type { Tried } from './tried.ts'

/** An address that a node with these settings would listen on. */
export interface WantedPlace {
  /** The option that names it, such as `--listen`. */
  readonly option: string
  /** True where the person named no other: a node that does not serve there starts all the same. */
  readonly isDefault: boolean
  readonly tried: Tried
}

export interface NameServer {
  /** An IP address, with the port where that is not 53. */
  readonly address: string
  /** The outcome of a question to it. */
  readonly tried: Tried
}

export interface MachineFacts {
  /** The version of this program. */
  readonly version: string
  /** Who is to carry packets, and whether this machine can have the interface for that. */
  readonly wireguard: 'engine' | 'kernel'
  readonly support: EngineSupport
  /** The network that the settings name, or why it cannot be read; undefined: they name none. */
  readonly network: { readonly id: string } | { readonly error: string; readonly hint: string } | undefined
  /** A warning about the file of the token, where others can read or change it. */
  readonly exposedToken: string | undefined
  readonly stateDir: { readonly path: string; readonly writing: Tried }
  /** Listening on a free TCP port, and on a free UDP port. */
  readonly ports: { readonly tcp: Tried; readonly udp: Tried }
  /** The ports and folders that a node would take; they count only while none runs, as a running one has them itself. */
  readonly places: readonly WantedPlace[]
  /** The interfaces with an address that is not loopback, and their MTU. */
  readonly interfaces: readonly { readonly name: string; readonly mtu: number | undefined }[]
  /** The kernel gives a new interface IPv6. */
  readonly hasIpv6: boolean
  /** The IP addresses of all interfaces. */
  readonly addresses: readonly string[]
  /** Finding the address of this machine's own name. */
  readonly ownName: Tried
  /** The problems of an exit node; undefined: the settings ask for none. */
  readonly exit: readonly VpnProblem[] | undefined
  readonly nameServers: readonly NameServer[]
  /** How many files a process of this user may have open; undefined where the system does not say. */
  readonly maxFiles: number | undefined
}

export interface NodeFacts {
  readonly node: NodeFactsView
  readonly health: HealthView
  readonly peers: readonly PeerView[]
  readonly machines: readonly MachineView[]
  /** Undefined before the host listens, and from nodes that do not know the question. */
  readonly reachability: ReachabilityView | undefined
  readonly vpn: VpnView | undefined
  readonly dns: DnsServerView | undefined
  /** Undefined from nodes that do not know the question. */
  readonly rules: RulesView | undefined
  /** Its own TCP addresses, and whether something answers there; undefined for a node that is not on this machine. */
  readonly answering: readonly { readonly address: string; readonly tried: Tried }[] | undefined
}

export interface DoctorFacts {
  readonly machine: MachineFacts
  /** The running node, or why there is none to ask. */
  readonly node: NodeFacts | { readonly missing: string; readonly next?: string | undefined }
}
