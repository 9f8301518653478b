/** `mesh peers`: whom the running node knows. */
import type { PeerView } from '@mesh/api-contract'
import { asking } from '../asking.ts'
import { formatPeers, formatReach } from './peer-table.ts'

export const runPeers = asking(
  (client) => client.listPeers(),
  (peers, { settings }) => formatKnownPeers(peers, settings.verbose),
)

function formatKnownPeers(peers: readonly PeerView[], verbose: boolean): string {
  const table = formatPeers(peers).trimStart()
  const shown = table === '' ? 'No peer is connected. `mesh status` says what the node waits for.\n' : table
  return `${shown}${verbose ? formatReach(peers) : ''}`
}
