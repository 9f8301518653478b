/** Keeps a copy of the ledger's file, and says what is, or was, wrong with the file. */
import { statSync } from 'node:fs'
import type { HealthProblem } from '@mesh/api-server'
import type { Clock, Logger } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import { type CopyProblem, type DiskStore, type SetAside, StoreCopies } from '@mesh/ledger/node'

export interface LedgerKeeper {
  problems(): readonly HealthProblem[]
  /** False when the file was removed, moved, replaced or cut short while the ledger has it open. */
  isInPlace(): boolean
  /** Resolves when no copy is being made any more. */
  stop(): Promise<void>
}

interface KeeperInit {
  readonly store: DiskStore
  readonly ledger: Ledger
  /** The outcome for a damaged file, where there was one before this start. */
  readonly damage: SetAside | undefined
}

/** A ledger in memory has nothing to keep: call it without arguments. */
export function createLedgerKeeper(
  init?: KeeperInit,
  components?: { readonly clock: Clock; readonly log: Logger },
): LedgerKeeper {
  if (init === undefined || components === undefined) {
    return { problems: () => [], isInPlace: () => true, stop: async () => {} }
  }
  const { store, ledger, damage } = init
  const copies = new StoreCopies({ store, contents: () => ledger.contents() }, components)
  const since = components.clock.now()
  return {
    problems: () => [
      ...(damage === undefined ? [] : [restoredProblem(damage, since)]),
      ...(copies.problem === undefined ? [] : [copyProblem(copies.problem, store.location)]),
    ],
    isInPlace: watchFile(store.location),
    stop: () => copies.stop(),
  }
}

/** Tells whether a path has the file that it has now, which never becomes shorter. */
function watchFile(path: string): () => boolean {
  const look = () => statSync(path, { throwIfNoEntry: false, bigint: true })
  const file = look()
  let greatest = file?.size ?? 0n
  return () => {
    const now = look()
    if (now === undefined || now.ino !== file?.ino || now.dev !== file.dev || now.size < greatest)
      return false
    greatest = now.size
    return true
  }
}

function restoredProblem(damage: SetAside, since: number): HealthProblem {
  const { movedTo, reason } = damage
  const now = whatIsInPlace(damage)
  return {
    code: 'ledger.restored',
    severity: 'warning',
    title: 'The file of the ledger was damaged at the start of this node',
    hint: `${now} What is missing comes from the other members; what only this node had is in ${movedTo} (${reason}). Check the disk. This is said until the node starts again.`,
    since,
  }
}

function whatIsInPlace({ copiedAt, isContinued }: SetAside): string {
  if (isContinued) return 'It goes on with what came before that.'
  if (copiedAt === undefined) return 'There was no sound copy: the ledger began empty.'
  return `The copy of ${new Date(copiedAt).toISOString()} is in its place.`
}

function copyProblem({ isDamaged, isCopied, message, since }: CopyProblem, location: string): HealthProblem {
  if (!isDamaged) {
    return {
      code: 'ledger.not_copied',
      severity: 'warning',
      title: `There is no fresh copy of the ledger: ${message}`,
      hint: 'A copy lies beside the file of the ledger, in case that is damaged. It is tried again every two minutes.',
      since,
    }
  }
  return {
    code: 'ledger.store_damaged',
    severity: 'error',
    title: `The file of the ledger is damaged on the disk: ${message}`,
    hint: `This node goes on with what it holds in memory${isCopied ? ', of which it has made a copy' : ''}. Check the disk and start the node again: it sets ${location} aside, takes the last sound copy, and gets the rest from the other members.`,
    since,
  }
}
