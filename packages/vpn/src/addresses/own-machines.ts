/** This node's own entries of `machines`. */
import { BUCKETS, type IpAddress, type PeerId } from '@mesh/core'
import type { VpnLedger } from '../ports.ts'
import type { MachineDescription } from '../vpn.ts'
import { holderOf } from './machines-bucket.ts'
import { isIpv4 } from './ip-math.ts'

interface MachineTextInit {
  /** All addresses of this node. */
  readonly own: readonly IpAddress[]
  readonly machine: MachineDescription
  /** True when the IPv4 address is a lease, which gives way to one that a person gave a machine. */
  readonly leased?: boolean
  /** True for the address of a guest, which this node carries for. */
  readonly guest?: boolean
}

/**
 * The machine record of one address, as JSON text. `Address` is the node's IPv4 address where it has one, in the entry of an IPv6
 * address too. A legacy node leases the greatest `Address` plus one (docs/WIRE.md 6.1), and would compute an IPv6 address
 * from an IPv4 range.
 */
export function machineText(peer: PeerId, address: IpAddress, given: MachineTextInit): string {
  const { own, machine, leased = false, guest = false } = given
  const { Hostname, OS, Arch, Version, Exit, ExitFaults = [] } = machine
  const Address = isIpv4(address) ? address : (own.find(isIpv4) ?? address)
  return JSON.stringify({
    PeerID: peer,
    Hostname,
    OS,
    Arch,
    Address,
    Version,
    ...(leased && { Leased: true }),
    ...(guest && { Guest: true }),
    ...(Exit !== undefined && { Exit }),
    ...(ExitFaults.length > 0 && { ExitFaults }),
  })
}

/**
 * Ends this node's entries for addresses that it has no more, of an earlier run or a lost lease: its own heartbeat
 * would keep them for ever. To be called once, when the node knows what others hold and before it announces addresses.
 */
export function forgetOldAddresses(ledger: VpnLedger, keep: readonly IpAddress[]): readonly string[] {
  const kept = new Set<string>(keep)
  const old: string[] = []
  for (const { key, entry } of ledger.snapshot().entries(BUCKETS.machines)) {
    if (!entry.deleted && !kept.has(key) && holderOf(key, entry) === ledger.self) old.push(key)
  }
  for (const key of old) ledger.delete(BUCKETS.machines, key)
  return old
}
