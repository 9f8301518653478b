/**
 * Writes down what an exit changes in the kernel, before it does: the next node of this state folder takes it back when
 * this one was killed, or goes on with it, so that no packet passes in between.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'
import * as z from 'zod'
import { isRunning, processFields } from '../state/process-record.ts'
import { readStateFile, writeStateFile } from '../state/state-file.ts'
import { undoForwarding } from './exit-forwarding.ts'
import { undoGuard } from './exit-guard.ts'
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

function journalPath(stateDir: string, role: ExitRole): string {
  return join(stateDir, `exit-${role}.json`)
}

/** A damaged one is read as one without a process id. */
export function readJournal(stateDir: string, role: ExitRole, log: Logger): ExitJournal | undefined {
  const file = journalPath(stateDir, role)
  const journal = readStateFile({ file, schema: exitJournal, log, hint: DAMAGED[role] })
  return journal === 'damaged' ? {} : journal
}

export function writeJournal(stateDir: string, role: ExitRole, journal: ExitJournal): void {
  writeStateFile(journalPath(stateDir, role), journal)
}

/** The node that wrote the journal still runs, and is not this one. */
export function isAlive(journal: ExitJournal | undefined): boolean {
  return journal?.pid !== undefined && isRunning({ ...journal, pid: journal.pid })
}

/**
 * Takes back what a node of this state folder left in the kernel, unless it still runs.
 * @param mark the mark of the exit that this node asks for: rules with it stay where they are
 */
export function restoreExit(stateDir: string, log: Logger, mark?: number): void {
  for (const role of ['use', 'offer'] as const) {
    const journal = readJournal(stateDir, role, log)
    if (journal === undefined || isAlive(journal)) continue
    if (role === 'use' && mark !== undefined && (journal.mark ?? mark) === mark) {
      // a damaged one was set aside: with another in its place this node goes on with the rules
      if (journal.mark === undefined) writeJournal(stateDir, role, { mark })
      continue
    }
    undo(role, journal)
    log.info('exit of an earlier run taken back', { role })
    rmSync(journalPath(stateDir, role), { force: true })
  }
}

/** Takes back what this node changed, and removes its journals. */
export function endJournals(stateDir: string, log: Logger): void {
  for (const role of ['use', 'offer'] as const) endJournal(stateDir, role, log)
}

export function endJournal(stateDir: string, role: ExitRole, log: Logger): void {
  const journal = readJournal(stateDir, role, log)
  if (journal === undefined || (journal.pid ?? process.pid) !== process.pid) return
  undo(role, journal)
  rmSync(journalPath(stateDir, role), { force: true })
}

function undo(role: ExitRole, { table }: ExitJournal): void {
  if (role === 'use') {
    undoRouting()
    // last, so that nothing is led nowhere
    undoGuard()
  }
  if (table !== undefined) undoForwarding(table)
}
