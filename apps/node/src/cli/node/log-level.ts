/** `mesh log-level`: what the running node logs, and changes of it. */
import type { LogLevelView } from '@mesh/api-contract'
import { MeshError } from '@mesh/core'
import { refuseLogLevels } from '../../log/log-level.ts'
import { printableJson } from '../../words/printable.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatTable } from '../format-table.ts'

export const runLogLevel: Run = async (call) => {
  const { positionals, settings } = call
  const [level] = positionals
  if (level === undefined && settings.persist) {
    throw new MeshError('node.bad_input', '--persist needs levels', {
      hint: 'Usage: mesh log-level LEVELS --persist',
    })
  }
  const expected = level === undefined ? undefined : refuseLogLevels(level)
  if (expected !== undefined) {
    throw new MeshError('node.bad_input', 'these are no levels', {
      issues: [{ field: 'LEVELS', value: level ?? '', expected }],
    })
  }
  const client = await findNode(call)
  const view =
    level === undefined
      ? await client.getLogLevel()
      : await client.putLogLevel({ body: { Level: level, Keep: settings.persist } })
  call.out(settings.json ? printableJson(view, 2) : formatLevels(view))
  return 0
}

/** Prints the lines that people read. */
export function formatLevels({ Level, Kept, Subsystems }: LogLevelView): string {
  const held = Kept ? 'kept over restarts' : 'until the node ends'
  const rows = Subsystems.map(({ Name, Level: own }) => [Name, own])
  return `${Level}, ${held}\n\n${formatTable(['SUBSYSTEM', 'LEVEL'], rows)}`
}
