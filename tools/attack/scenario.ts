/** What an attack is: who can make it, what it sends, and what it is judged by. */
import type { Libp2p } from '@libp2p/interface'
import type { ApiClient } from '@mesh/api-client'
import type { Signer } from '@mesh/ledger'
import type { NetworkConfig } from '@mesh/network'
import type { Carried, Tally } from './tally.ts'

export type TargetKind = 'mesh' | 'legacy'

export interface AttackTarget {
  readonly kind: TargetKind
  readonly pid: number
  readonly id: string
  /** Where it listens, ending with `/p2p/ID`. */
  readonly address: string
  /**
   * Where its HTTP API answers, without a slash at the end. Of a legacy node that runs a command without one it is that of a
   * member that knows none but the victim.
   */
  readonly url: string
  /** Of the cheapest answer that it gives; `tcp:` where it has no HTTP, for the greeting at the port for peers. */
  readonly healthUrl: string
  /** What whoever runs the node may ask of it, over its control socket; undefined for legacy nodes. */
  readonly control?: ApiClient
}

/** What an attack is given while it runs. */
export interface Attack {
  readonly target: AttackTarget
  /** What members know. A stranger's attack must not use it. */
  readonly config: NetworkConfig
  readonly token: string
  /**
   * The key of the network's administrator, where it has one: for what a person has done before the attack. An attack must
   * not use it for itself.
   */
  readonly administrator?: Signer
  /** Aborts when the time of the attack is over; the attack returns soon after. */
  readonly signal: AbortSignal
  /** What the attack did at its victim; it counts there what reached it, and tells what failed. */
  readonly tally: Tally
  /** Opens a raw peer with a fresh key, from one of the loopback addresses; it ends with the attack. */
  peer(init?: PeerInit): Promise<Libp2p>
  /** Starts one more honest node, which knows the target; undefined in a network that has all of its nodes, as in a siege. */
  readonly join?: (args?: readonly string[]) => Promise<AttackTarget>
}

export interface PeerInit {
  /** Seed of the peer's key, 32 bytes; a fresh one unless given. */
  readonly seed?: Uint8Array
  /** The address that it dials from, such as `127.0.0.7`; the system's choice unless given. */
  readonly from?: string
  /** Where it listens over TCP; nowhere unless given. */
  readonly listen?: string
  /** True for a peer that dials over WebRTC, too. */
  readonly hasWebRtc?: boolean
}

/** What an EdgeVPN node runs that is attacked: `edgevpn api` unless given otherwise. */
export interface LegacyVictim {
  /** Another command with its positional arguments, as `['service-add', 'held', '127.0.0.1:80']`. */
  readonly command?: readonly string[]
  readonly flags?: readonly string[]
  /** True for the VPN itself, in a network namespace of its own. */
  readonly hasVpn?: boolean
}

/** Why an attack has no meaning on EdgeVPN nodes: what they do not have, in a few words. */
export interface Meaningless {
  readonly meaningless: string
}

export interface Scenario {
  readonly name: string
  /** `stranger` has no token; `member` has it, and as many keys as it likes. */
  readonly who: 'stranger' | 'member'
  /** What it does, in one line. */
  readonly does: string
  /** What bounds it: the name of a flag, or of a limit in a `limits.ts`. */
  readonly boundedBy: string
  /** How it is made on an EdgeVPN node, or why it has no meaning there. */
  readonly legacy: LegacyVictim | Meaningless
  /** What has to be counted for the attack to have been carried out, as 'streams'; undefined for what is no attack. */
  readonly aim: string | undefined
  /** Arguments without which the victim has nothing that is attacked. */
  readonly needs?: readonly string[]
  /** Further arguments of a victim that is attacked alone. */
  readonly victimArgs?: readonly string[]
  /**
   * True for what is not made in a siege: it fills the ledger that all share, leaves conflicts there that only end with
   * the attacker's heartbeats, needs a node that no network on one machine has, as one with a VPN, is judged by a time
   * that a node which is besieged by others does not keep, or makes with more connections what another attack makes.
   */
  readonly isApart?: boolean
  /** True where the victim has a VPN, and the attack is made in a network namespace of its own (`namespace.ts`). */
  readonly hasVpn?: boolean
  /**
   * True where the attacker is another machine on the victim's local network, for which both are in namespaces of their own
   * (`namespace.ts`).
   */
  readonly hasNeighbour?: boolean
  /** True where the network has an administrator, who lets the victim and the honest member in. */
  readonly hasAdministrators?: boolean
  /** True where the honest member joins while the attack runs, and not before it. */
  readonly honestComesLate?: boolean
  /**
   * True where the attack begins with many handshakes. In a siege it begins before the others, which on few processors leave
   * it no time for them.
   */
  readonly hasLongBeginning?: boolean
  /** Writes the ledger with which the victim starts into an empty folder: for what took hours before the attack. */
  prepareLedger?(folder: string): Promise<void>
  /**
   * Makes ready what the attack needs, such as a ledger to look through, before its time begins: what a ledger may hold
   * is no growth. Rejects when that cannot be had.
   */
  prepare?(attack: Attack): Promise<void>
  /** Attacks until the signal aborts. */
  run(attack: Attack): Promise<void>
  /** Tells why the attack reached its aim, once it is over; undefined when it did not. */
  reached?(attack: Attack): Promise<string | undefined>
}

export interface Measured {
  readonly name: string
  readonly who: Scenario['who']
  /** The longest that `/healthz` took to answer during the attack, in ms; infinite when it did not. */
  readonly healthMs: number
  /** The same without the time in which the victim or the one that asked waited for a processor. */
  readonly ownHealthMs: number
  /** `healthMs` of the victim in the seconds before the attack, to compare with, in ms. */
  readonly calmMs: number
  /** How much the process grew during the attack, in MB of resident memory. */
  readonly grownMb: number
  /** What was left of the growth after the attack, in MB; floods of datagrams do not measure it. */
  readonly keptMb?: number
  /** The longest that a write of an honest member took to arrive, in ms; infinite when one did not. */
  readonly writeMs: number
  /** How many writes an honest member made, and how many arrived. */
  readonly writes: number
  readonly arrived: number
  /** Whether the attack did at its victim what it is about: what it could not try held nobody off. */
  readonly carried: Carried
  /** What the attack did, and why what else it tried came to nothing. */
  readonly outcome: string
  /** Why it counts as failed to be held off; undefined when all bounds held. */
  readonly broke: string | undefined
}

/** An attack that was not made on legacy nodes, and why. */
export interface PassedOver extends Meaningless {
  readonly name: string
  readonly who: Scenario['who']
}

/** What a victim has to keep while it is attacked. */
export interface Bounds {
  /** How long health may take, in ms, without what the victim waits for a processor. */
  readonly healthMs: number
  readonly grownMb: number
  /** How much of the growth may be left `RECOVERY_MS` after the attack, in MB. */
  readonly keptMb: number
  readonly writeMs: number
}

/** The bounds of docs/SECURITY.md. A Kubernetes probe waits 1 s by default. */
export const SUITE_BOUNDS: Bounds = { healthMs: 1_000, grownMb: 250, keptMb: 50, writeMs: 10_000 }
/** How long a node may take to give memory back after an attack, in ms. */
export const RECOVERY_MS = 60_000
