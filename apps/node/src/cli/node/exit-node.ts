/** `mesh exit-node`: which member the running node uses as its exit, and changes of it. */
import { printable } from '@mesh/core'
import type { VpnView } from '@mesh/api-contract'
import { printableJson } from '../../words/printable.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { exitLines } from './status.ts'

/** The word in the place of a member that says that none is wanted. */
const OFF = 'off'

export const runExitNode: Run = async ({ positionals, settings, out, ...call }) => {
  const [exit] = positionals
  const client = await findNode({ positionals, settings, out, ...call })
  if (exit === OFF) await client.deleteExitNode()
  const view =
    exit === undefined || exit === OFF
      ? await client.getVpn()
      : await client.putExitNode({ body: { Exit: exit } })
  out(settings.json ? printableJson(view.ExitNode, 2) : formatExit(view))
  return 0
}

function formatExit({ ExitNode, OffersExit }: Pick<VpnView, 'ExitNode' | 'OffersExit'>): string {
  const lines = exitLines({ ExitNode, OffersExit })
  const none =
    ExitNode === null ? ['No exit node is used: what leaves for the Internet goes its own way.'] : []
  return [...none, ...lines].map((line) => `${printable(line)}\n`).join('')
}
