/** The ledger of this node, over its file or in memory; a file that was damaged makes way. */
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Clock, type Logger, MeshError } from '@mesh/core'
import { createLedger, createMemoryStore, defaultPolicies, type Ledger, type Store } from '@mesh/ledger'
import type { Trust } from '@mesh/trust'
import {
  createNodeSigner,
  createNodeVerifier,
  type DiskStore,
  openDiskStore,
  type SetAside,
  setAsideDamaged,
} from '@mesh/ledger/node'
import type { Settings } from '../settings/options.ts'
import type { Identity } from '../state/identity.ts'
import { makeFolder } from '../files/make-folder.ts'
import { refuseSharedFolder } from '../files/refuse-shared-folder.ts'
import { createLedgerKeeper, type LedgerKeeper } from '../health/ledger-keeper.ts'

export interface OpenLedgerInit {
  readonly settings: Settings
  readonly identity: Identity
  /** The folder of the instance. */
  readonly folder: string
  /** Whose entries are taken, and the rules of its own buckets. */
  readonly trust: Trust | undefined
}

interface LedgerParts {
  readonly clock: Clock
  readonly log: Logger
}

/** Text, indexes and free pages: the file may be twice what the ledger counts. */
const FILE_BYTES_PER_LEDGER_BYTE = 2

/** A ledger, and what keeps its file safe. */
export interface OpenedLedger {
  readonly ledger: Ledger
  readonly keeper: LedgerKeeper
}

/**
 * How often a damaged file makes way: for itself without its log, for its copy, and for an empty file when the copy is
 * damaged, too.
 */
const MAX_SET_ASIDE = 3

/**
 * Opens the ledger over its file. A damaged file is set aside, and the last copy of it takes its place.
 * @throws MeshError `ledger.store_locked`, `ledger.store_failed`, `ledger.store_damaged`, `node.state_unusable`
 */
export function openLedger(init: OpenLedgerInit, components: LedgerParts): OpenedLedger {
  const { clock, log } = components
  const { ephemeral, ownership, ledgerState } = init.settings
  // with ownership off the greater block wins, and a kept one would give back what the network has forgotten
  if (ephemeral || ownership === 'off') {
    if (ledgerState !== undefined) log.warn('--ownership off keeps no ledger: --ledger-state has no effect')
    return { ledger: openOver(createMemoryStore(), init, components), keeper: createLedgerKeeper() }
  }
  const path = storePath(init)
  let damage: SetAside | undefined
  for (let tries = 0; ; tries++) {
    try {
      const store = openStore(path, init.settings)
      const ledger = openOver(store, init, components)
      return { ledger, keeper: createLedgerKeeper({ store, ledger, damage }, { clock, log }) }
    } catch (error) {
      const done = tries < MAX_SET_ASIDE ? setAsideDamaged(path, error, clock) : undefined
      if (done === undefined) throw error
      damage = { ...done, movedTo: damage?.movedTo ?? done.movedTo, reason: damage?.reason ?? done.reason }
      const message = done.isContinued
        ? 'the log of the ledger was damaged: what it brought last is missing'
        : 'the file of the ledger was damaged and is set aside'
      log.error(message, {
        movedTo: done.movedTo,
        reason: done.reason,
        copiedAt: done.copiedAt && new Date(done.copiedAt).toISOString(),
      })
    }
  }
}

function openOver(
  store: Store,
  { settings, identity, trust }: OpenLedgerInit,
  { clock, log }: LedgerParts,
): Ledger {
  const ledger = createLedger(
    {
      mode: settings.ownership,
      livenessMs: settings.ownershipTtl,
      policies: { ...defaultPolicies, ...trust?.policies },
      limits: {
        maxEntries: settings.ledgerMaxEntries,
        maxBytes: settings.ledgerMaxBytes,
        maxSignerEntries: settings.ledgerMaxSignerEntries,
        maxSignerBytes: settings.ledgerMaxSignerBytes,
        maxUnsignedEntries: settings.ledgerMaxUnsignedEntries,
        maxUnsignedBytes: settings.ledgerMaxUnsignedBytes,
      },
    },
    {
      signer: createNodeSigner(identity.seed),
      verify: createNodeVerifier(),
      clock,
      store,
      logger: log,
      ...(trust !== undefined && { admits: (...asked) => trust.admits(...asked) }),
    },
  )
  // the API takes writes before replication stands, which releases them when it knows what others did meanwhile
  ledger.holdClaims()
  return ledger
}

function storePath({ settings, folder }: OpenLedgerInit): string {
  const place = settings.ledgerState ?? folder
  try {
    makeFolder(place)
  } catch (cause) {
    throw new MeshError('node.state_unusable', `cannot make the folder ${place}`, {
      cause,
      hint: 'Give --ledger-state a folder that this user may write to.',
    })
  }
  if (settings.ledgerState !== undefined) refuseSharedFolder(place, { named: place, flag: '--ledger-state' })
  return behindLink(join(place, 'ledger.db'))
}

/** The file itself where a link leads to it, on a larger disk perhaps: SQLite keeps the log beside the file, not beside the link. */
function behindLink(path: string): string {
  // what leads nowhere is told when it is opened
  if (!existsSync(path) || !lstatSync(path).isSymbolicLink()) return path
  const file = realpathSync(path)
  refuseSharedFolder(dirname(file), { named: dirname(file), flag: '--ledger-state' })
  return file
}

function openStore(path: string, settings: Settings): DiskStore {
  return openDiskStore({ path, maxBytes: FILE_BYTES_PER_LEDGER_BYTE * settings.ledgerMaxBytes })
}
