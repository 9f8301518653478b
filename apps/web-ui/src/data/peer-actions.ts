/** Does what a person asks of peers: connecting to them, and forgetting them. */
import type { PeerPingView } from '@mesh/api-contract'
import type { UseMutationResult } from '@tanstack/react-query'
import { useChange } from './changes.ts'

const SHOW_PEERS = ['listPeers', 'listNodes', 'listPeerstore'] as const

/** Connects to a peer by its address, which ends with its peer id, or by the id alone. */
export const useAddPeer = () =>
  useChange<string, PeerPingView>(SHOW_PEERS, (client, Address) => client.addPeer({ body: { Address } }))

/** Connects where need be, and measures. */
export const useConnectPeer = () =>
  useChange<string, PeerPingView>(SHOW_PEERS, (client, peer) => client.pingPeer({ peer }))

/** Closes the connections to a peer and forgets where it is. */
export const useForgetPeer: () => UseMutationResult<unknown, Error, string> = () =>
  useChange(SHOW_PEERS, (client, peer: string) => client.forgetPeer({ peer }))
