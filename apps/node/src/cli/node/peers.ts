/** `mesh peers`: whom the running node knows. */
import type { PeerView } from '@mesh/api-contract'
import { printableJson } from '../../words/printable.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatPeers, formatReach } from './peer-table.ts'

export const runPeers: Run = async (call) => {
  const { settings } = call
  const peers = await (await findNode(call)).listPeers()
  if (settings.json) call.out(printableJson(peers, 2))
  else call.out(formatKnownPeers(peers, settings.verbose))
  return 0
}

function formatKnownPeers(peers: readonly PeerView[], verbose: boolean): string {
  const table = formatPeers(peers).trimStart()
  const shown = table === '' ? 'No peer is connected. `mesh status` says what the node waits for.\n' : table
  return `${shown}${verbose ? formatReach(peers) : ''}`
}
