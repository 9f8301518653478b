/** The VPN as the API shows it. */
import type { VpnPort } from '@mesh/api-server'
import type { TunnelKind, Vpn } from '@mesh/vpn'
import { WAY_OF_TUNNEL } from '../metrics/vpn-metrics.ts'

export function createVpnPort(
  vpn: Pick<Vpn, 'status' | 'probe' | 'guests' | 'addGuest' | 'removeGuest' | 'subscribe'>,
  setExitNode: VpnPort['setExitNode'],
): VpnPort {
  return {
    status() {
      const status = vpn.status()
      return { ...status, peers: status.peers.map(withWay) }
    },
    guests: () => vpn.guests(),
    addGuest: (request) => vpn.addGuest(request),
    removeGuest: (name) => vpn.removeGuest(name),
    setExitNode,
    onPath: (listener) =>
      vpn.subscribe((event) => {
        if (event.type === 'path') listener(event.peer, event.udp)
      }),
    probe: async (peer, signal) => withWay(await vpn.probe(peer, signal)),
  }
}

function withWay<T extends { readonly tunnel: TunnelKind }>(told: T) {
  return { ...told, way: WAY_OF_TUNNEL[told.tunnel] }
}
