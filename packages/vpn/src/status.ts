/** The status of a VPN, as people are shown it. */
import type { PeerId } from '@mesh/core'
import type { EngineStats } from '@mesh/engine'
import type { Tunnels } from './tunnels/tunnels.ts'
import type { VpnTable } from './table/build-table.ts'
import type { TablePeer } from './table/table-build.ts'
import type { OwnRoute, VpnInit, VpnPeerStatus, VpnStatus } from './vpn.ts'

const NO_COUNTERS = { packetsIn: 0, bytesIn: 0, packetsOut: 0, bytesOut: 0, drops: {} }

interface VpnStatusInput extends Pick<VpnStatus, 'state' | 'interface' | 'addresses' | 'exit' | 'rules'> {
  readonly init: Pick<VpnInit, 'advertiseRoutes' | 'machine'>
  readonly ownRoutes: readonly OwnRoute[]
  readonly table: VpnTable | undefined
  /** Both are undefined while there is no interface. */
  readonly tunnels: Pick<Tunnels, 'status' | 'refusals'> | undefined
  readonly stats: EngineStats | undefined
}

export function vpnStatus({ init, ownRoutes, table, tunnels, stats, ...own }: VpnStatusInput): VpnStatus {
  return {
    ...own,
    peers:
      table && tunnels && stats
        ? [...table.peers]
            .map(([peer, machine]) => peerStatus(peer, machine, { tunnels, stats }))
            .sort((one, other) => (one.peer < other.peer ? -1 : 1))
        : [],
    device: stats?.device ?? NO_COUNTERS,
    routes: {
      advertised: init.advertiseRoutes ?? [],
      own: ownRoutes,
      accepted: table?.accepted ?? [],
      standby: table?.standby ?? [],
    },
    offersExit: init.machine.Exit,
    ignored: table?.ignored ?? {},
    refusals: tunnels?.refusals() ?? {},
  }
}

function peerStatus(
  peer: PeerId,
  { hostname, addresses, routes, exit }: TablePeer,
  { tunnels, stats }: { readonly tunnels: Pick<Tunnels, 'status'>; readonly stats: EngineStats },
): VpnPeerStatus {
  const { kind, path, udp, mtu, sessionSince } = tunnels.status(peer)
  return {
    peer,
    hostname,
    addresses,
    routes,
    exit,
    tunnel: kind,
    ...(udp.state === 'none'
      ? { path: path?.path, transport: path?.transport }
      : { path: 'direct', transport: 'udp' }),
    udp,
    mtu,
    sessionSince,
    counters: stats.peers.get(peer) ?? NO_COUNTERS,
  }
}
