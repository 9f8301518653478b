/**
 * Writes down what an exit changes in the kernel, before it does. If the node is killed, the next node of this state folder undoes it or
 * continues with it, so that no packet passes in between.
 */
import type { Logger } from '@mesh/core'
import * as z from 'zod'
import { type Journals, processFields } from '../journals.ts'
import { undoForwarding } from './exit-forwarding.ts'
import { removeTable } from '../system/nft-table.ts'
import { GUARD_TABLE } from './exit-guard.ts'
import { undoRouting } from './exit-routing.ts'

/** The role of a node: its own packets go to an exit (`use`), or it is one (`offer`). */
type ExitRole = 'use' | 'offer'

export const exitJournal = z.object({
  ...processFields,
  /** The process id of the node that wrote it; none where that is not known any more, and the node has ended. */
  pid: processFields.pid.optional(),
  /** The mark in the rules of --exit-node. */
  mark: z.int().nonnegative().optional(),
  /** The nftables table of --advertise-exit. */
  table: z.string().optional(),
})

export type ExitJournal = Readonly<z.infer<typeof exitJournal>>

const DAMAGED: Readonly<Record<ExitRole, string>> = {
  use: 'Routing rules of an exit are taken for those of a node that has ended. If another node of this machine uses an exit, start it anew.',
  offer:
    'If no node of this machine is an exit any more: `nft list tables` shows its table, mesh_exit_NAME, and `nft delete table inet mesh_exit_NAME` removes it.',
}

function nameOf(role: ExitRole): string {
  return `exit-${role}`
}

/** A damaged one is read as one without a process id. */
export function readJournal(journals: Journals, role: ExitRole): ExitJournal | undefined {
  const journal = journals.read(nameOf(role), exitJournal, DAMAGED[role])
  return journal === 'damaged' ? {} : journal
}

export function writeJournal(journals: Journals, role: ExitRole, journal: ExitJournal): void {
  journals.write(nameOf(role), journal)
}

/** The node that wrote the journal still runs, and is not this one. */
export function isAlive(journals: Journals, journal: ExitJournal | undefined): boolean {
  return journal?.pid !== undefined && journals.isRunning({ ...journal, pid: journal.pid })
}

/**
 * Takes back what a node of this state folder left in the kernel, unless it still runs.
 * @param mark the mark of the exit that this node asks for: rules with it stay where they are
 */
export function restoreExit(journals: Journals, log: Logger, mark?: number): void {
  for (const role of ['use', 'offer'] as const) {
    const journal = readJournal(journals, role)
    if (journal === undefined || isAlive(journals, journal)) continue
    if (role === 'use' && mark !== undefined && (journal.mark ?? mark) === mark) {
      // a damaged one was set aside: with another in its place this node goes on with the rules
      if (journal.mark === undefined) writeJournal(journals, role, { mark })
      continue
    }
    undo(role, journal)
    log.info('exit of an earlier run taken back', { role })
    journals.remove(nameOf(role))
  }
}

/** Takes back what this node changed, and removes its journals. */
export function endJournals(journals: Journals): void {
  for (const role of ['use', 'offer'] as const) endJournal(journals, role)
}

export function endJournal(journals: Journals, role: ExitRole): void {
  const journal = readJournal(journals, role)
  if (journal === undefined || (journal.pid ?? process.pid) !== process.pid) return
  undo(role, journal)
  journals.remove(nameOf(role))
}

function undo(role: ExitRole, { table }: ExitJournal): void {
  if (role === 'use') {
    undoRouting()
    // last, so that nothing is led nowhere
    removeTable(GUARD_TABLE)
  }
  if (table !== undefined) undoForwarding(table)
}
