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

export interface ExitJournal {
  /** The process id of the node that wrote it. */
  readonly pid: number
  /** The mark in the rules of --exit-node. */
  readonly mark?: number
  /** The nftables table of --advertise-exit. */
  readonly table?: string
}

function journalPath(stateDir: string): string {
  return join(stateDir, 'exit.json')
}

export function readJournal(stateDir: string): ExitJournal | undefined {
  try {
    return JSON.parse(readFileSync(journalPath(stateDir), 'utf8')) as ExitJournal
  } catch {
    return undefined
  }
}

export function writeJournal(stateDir: string, journal: ExitJournal): void {
  writeFileSync(journalPath(stateDir), JSON.stringify(journal), { mode: 0o600, flush: true })
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
  const journal = readJournal(stateDir)
  if (journal === undefined || isAlive(journal)) return
  const stays = journal.mark !== undefined && journal.mark === mark
  if (journal.mark !== undefined && !stays) {
    undoGuard()
    undoRouting()
    log.info('exit rules of an earlier run removed')
  }
  if (journal.table !== undefined) undoForwarding(journal.table)
  if (!stays) rmSync(journalPath(stateDir), { force: true })
}

/** At the end of the node that wrote it. */
export function endJournal(stateDir: string): void {
  const journal = readJournal(stateDir)
  if (journal?.pid !== process.pid) return
  if (journal.mark !== undefined) {
    undoGuard()
    undoRouting()
  }
  if (journal.table !== undefined) undoForwarding(journal.table)
  rmSync(journalPath(stateDir), { force: true })
}
