/** The server asks through this port for the VPN. */
import type { GuestConfigurationView, GuestView, VpnPeerView, VpnPingView, VpnView } from '@mesh/api-contract'
import type { PeerId } from '@mesh/core'

/** The network interface and who is reached through it. */
export interface VpnPort {
  /** Round trips are those over UDP. */
  status(): VpnView
  guests(): readonly GuestView[]
  /** @throws MeshError with a code of the catalogue */
  addGuest(request: {
    readonly name: string
    readonly endpoint: string | undefined
    readonly fullTunnel: boolean | undefined
  }): Promise<GuestConfigurationView>
  /** @throws MeshError with a code of the catalogue */
  removeGuest(name: string): void
  /**
   * Leads all that leaves for the Internet through another member from now on, or through none; kept over restarts.
   * @throws MeshError with a code of the catalogue
   */
  setExitNode(wanted: string | undefined): void
  /** Calls the listener when packets go another way to a peer, or for another reason not over UDP. */
  onPath(listener: (peer: string, udp: VpnPeerView['UDP']) => void): () => void
  /** @throws MeshError `vpn.unknown_peer`, `vpn.not_running`, or what kept it from being reached; the signal's reason */
  probe(peer: PeerId, signal: AbortSignal): Promise<Omit<VpnPingView, 'PeerID' | 'Hostname' | 'Address'>>
}
