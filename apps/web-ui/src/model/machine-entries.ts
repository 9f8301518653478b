/** Finds what the ledger holds of one machine, from the lists that say whose each entry is. */
import type { DnsView, FileView, ServiceView, VpnPeerView, VpnView } from '@mesh/api-contract'
import { BUCKETS } from '@mesh/core'
import type { Machine } from './machine.ts'

interface MachineSources {
  readonly machine: Machine
  readonly services: readonly ServiceView[]
  readonly files: readonly FileView[]
  readonly names: readonly DnsView[]
  readonly vpn: VpnView | undefined
  /** Peer ids of members that lead to the Internet. */
  readonly egress: readonly string[]
}

export interface LedgerPlace {
  readonly bucket: string
  readonly key: string
}

export interface MachineParts {
  readonly services: readonly string[]
  readonly files: readonly string[]
  /** Patterns of names that lead to one of its addresses. */
  readonly patterns: readonly string[]
  /** The networks behind the machine. */
  readonly routes: readonly string[]
  /** The VPN's knowledge of it. */
  readonly vpn: VpnPeerView | undefined
  /** Places of its entries. */
  readonly entries: readonly LedgerPlace[]
}

/** The services, files and routes of one machine, and where each of its entries stands. */
export function partsOfMachine({
  machine,
  services,
  files,
  names,
  vpn,
  egress,
}: MachineSources): MachineParts {
  const { id, addresses } = machine
  const own = services.filter(({ PeerID }) => PeerID === id).map(({ Name }) => Name)
  const offered = files.filter(({ PeerID }) => PeerID === id).map(({ Name }) => Name)
  const peer = vpn?.Peers.find(({ PeerID }) => PeerID === id)
  const isSelf = machine.reach.kind === 'self'
  const routes = (isSelf ? vpn?.Routes.Advertised : peer?.Routes) ?? []
  return {
    services: own,
    files: offered,
    patterns: names
      .filter(({ Records }) => Object.values(Records).some((value) => addresses.includes(value)))
      .map(({ Regex }) => Regex),
    routes,
    vpn: peer,
    entries: [
      ...placesIn(BUCKETS.machines, addresses),
      ...placesIn(BUCKETS.services, own),
      ...placesIn(BUCKETS.files, offered),
      ...placesIn(BUCKETS.routes, routes),
      ...placesIn(
        BUCKETS.egress,
        egress.filter((peer) => peer === id),
      ),
      ...placesIn(BUCKETS.healthcheck, [id]),
    ],
  }
}

function placesIn(bucket: string, keys: readonly string[]): LedgerPlace[] {
  return keys.map((key) => ({ bucket, key }))
}
