/** Commands that a node which runs here can do for them: it is asked, and goes on with it after the command has ended. */
import type { ApiClient } from '@mesh/api-client'
import { MeshError } from '@mesh/core'
import type { Call } from '../command.ts'
import { findCommonNode, findNode } from '../find-node.ts'
import { printableJson } from '../../words/printable.ts'

/** One thing to ask for, and what to tell the person. */
export interface Asked {
  /** Puts it, and resolves with what the node says of it. */
  readonly ask: (client: ApiClient) => Promise<object>
  /** One line for people, `web: members reach 127.0.0.1:8080`. */
  readonly told: string
  /** The command that shows how it is. */
  readonly shown: string
  /** The command that takes it back. */
  readonly undo: string
}

/**
 * Asks the node that runs here, unless the person wants another; false: none runs, or it is not wanted.
 * @throws ApiError what the node refuses
 */
export async function askCommonNode(call: Call, asked: readonly Asked[]): Promise<boolean> {
  if (call.settings.ownNode) return false
  const node = await findCommonNode(call)
  if (node === undefined) return false
  const facts = await node.client.getNode()
  for (const { ask, told, shown, undo } of asked) {
    const view = await ask(node.client)
    if (call.settings.json) call.out(printableJson(view))
    else {
      const name = facts.Name === '' ? 'The node that runs here' : `The node ${facts.Name}, which runs here,`
      call.out(`${name} does it from now on, also after a restart: ${told}\n`)
      call.out(`  \`${shown}\` shows how it is; \`${undo}\` ends it.\n`)
    }
  }
  return true
}

/**
 * Finds the node for what only a running one can do: the one that --api-url names, or the one that runs here.
 * @throws MeshError `node.not_running`
 */
export async function requireCommonNode(call: Call): Promise<ApiClient> {
  if (call.settings.apiUrl !== undefined) return findNode(call)
  const node = await findCommonNode(call)
  if (node !== undefined) return node.client
  throw new MeshError('node.not_running', 'no node is running here that could do it', {
    hint: 'Start one with `mesh`, `mesh api` or `mesh start`; what a command runs for itself ends with Ctrl-C there.',
  })
}
