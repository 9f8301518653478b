/** `mesh machines`: which machines the network of the running node has. */
import { type ApiClient, ApiError } from '@mesh/api-client'
import type { MachineView, VpnPeerView } from '@mesh/api-contract'
import { shortPeerId } from '@mesh/core'
import { asking } from '../asking.ts'
import { formatTable } from '../format-table.ts'
import { byAddress, formatRoundTrip } from './peer-table.ts'
import { wayOf } from './packet-way.ts'

export const runMachines = asking(readMachines, formatMachines)

/** A machine of the ledger, with how packets reach it where this node has a VPN. */
type Machine = MachineView & { readonly Vpn: VpnPeerView | null }

async function readMachines(client: ApiClient): Promise<readonly Machine[]> {
  const [machines, vpn] = await Promise.all([
    client.listMachines(),
    client.getVpn().catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'vpn.not_running') return undefined
      throw error
    }),
  ])
  const ways = new Map(vpn?.Peers.map((peer) => [peer.PeerID, peer]))
  return machines
    .map((machine) => ({ ...machine, Vpn: ways.get(machine.PeerID) ?? null }))
    .toSorted(byAddress)
}

const COLUMNS = ['ADDRESS', 'NAME', 'PEER', 'STATE', 'SYSTEM', 'VERSION', 'WAY', 'ROUND TRIP']

/** Prints the lines that people read. */
export function formatMachines(machines: readonly Machine[]): string {
  if (machines.length === 0) return 'The network has no machine yet: one that runs `mesh` gets an address.\n'
  return formatTable(
    COLUMNS,
    machines.map(({ Addresses, Address, Hostname, PeerID, OS, Arch, Version, Vpn, ...state }) => [
      Addresses.join(' ') || Address,
      Hostname === '' ? '-' : Hostname,
      shortPeerId(PeerID),
      stateOf(state),
      [OS, Arch].filter((part) => part !== '').join('/') || '-',
      Version === '' ? '-' : Version,
      Vpn === null ? '-' : wayOf(Vpn),
      formatRoundTrip(Vpn?.RoundTripMs ?? null),
    ]),
  )
}

function stateOf({ Online, Connected }: Pick<MachineView, 'Online' | 'Connected'>): string {
  if (Connected) return 'connected'
  return Online ? 'online' : 'away'
}
