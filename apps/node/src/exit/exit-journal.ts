/**
 * Writes down what an exit changes in the kernel, before it does: the next node of this state folder takes it back when
 * this one was killed, or goes on with it, so that no packet passes in between.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'
import { isRunning } from '../node/restore-resolver.ts'
import { undoForwarding } from './exit-forwarding.ts'
import { undoGuard } from './exit-guard.ts'
import { undoRouting } from './exit-routing.ts'

/** The role of a node: its own packets go to an exit (`use`), or it is one (`offer`). */
type ExitRole = 'use' | 'offer'

export interface ExitJournal {
  /** The process id of the node that wrote it. */
  readonly pid: number
  /** The mark in the rules of --exit-node. */
  readonly mark?: number
  /** The nftables table of --advertise-exit. */
  readonly table?: string
}

function journalPath(stateDir: string, role: ExitRole): string {
  return join(stateDir, `exit-${role}.json`)
}

export function readJournal(stateDir: string, role: ExitRole): ExitJournal | undefined {
  try {
    return JSON.parse(readFileSync(journalPath(stateDir, role), 'utf8')) as ExitJournal
  } catch {
    return undefined
  }
}

export function writeJournal(stateDir: string, role: ExitRole, journal: ExitJournal): void {
  writeFileSync(journalPath(stateDir, role), JSON.stringify(journal), { mode: 0o600, flush: true })
}

/** The node that wrote the journal still runs, and is not this one. */
export function isAlive(journal: ExitJournal | undefined): boolean {
  return journal !== undefined && isRunning(journal.pid)
}

/**
 * Takes back what a node of this state folder left in the kernel, unless it still runs.
 * @param mark the mark of the exit that this node asks for: rules with it stay where they are
 */
export function restoreExit(stateDir: string, log: Logger, mark?: number): void {
  for (const role of ['use', 'offer'] as const) {
    const journal = readJournal(stateDir, role)
    if (journal === undefined || isAlive(journal)) continue
    if (role === 'use' && journal.mark === mark) continue
    undo(journal)
    log.info('exit of an earlier run taken back', { role })
    rmSync(journalPath(stateDir, role), { force: true })
  }
}

/** Takes back what this node changed, and removes its journals. */
export function endJournals(stateDir: string): void {
  for (const role of ['use', 'offer'] as const) endJournal(stateDir, role)
}

export function endJournal(stateDir: string, role: ExitRole): void {
  const journal = readJournal(stateDir, role)
  if (journal?.pid !== process.pid) return
  undo(journal)
  rmSync(journalPath(stateDir, role), { force: true })
}

function undo({ mark, table }: ExitJournal): void {
  if (mark !== undefined) {
    undoRouting()
    // last, so that nothing is led nowhere
    undoGuard()
  }
  if (table !== undefined) undoForwarding(table)
}
