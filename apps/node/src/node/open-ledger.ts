/** The ledger of this node, over its file or in memory. */
import { join } from 'node:path'
import { type Clock, type Logger, MeshError } from '@mesh/core'
import { createLedger, createMemoryStore, defaultPolicies, type Ledger, type Store } from '@mesh/ledger'
import type { Trust } from '@mesh/trust'
import { createNodeSigner, createNodeVerifier, openDiskStore } from '@mesh/ledger/node'
import type { Settings } from '../settings/options.ts'
import type { Identity } from '../state/identity.ts'
import { makeFolder } from '../state/make-folder.ts'

export interface OpenLedgerInit {
  readonly settings: Settings
  readonly identity: Identity
  /** The folder of the instance. */
  readonly folder: string
  /** Whose entries are taken, and the rules of its own buckets. */
  readonly trust: Trust | undefined
}

/** Text, indexes and free pages: the file may be twice what the ledger counts. */
const FILE_BYTES_PER_LEDGER_BYTE = 2

export function openLedger(
  { settings, identity, folder, trust }: OpenLedgerInit,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Ledger {
  const store = settings.ephemeral ? createMemoryStore() : openStore(settings, folder)
  try {
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
        ...(trust !== undefined && { admits: (owner, bucket) => trust.admits(owner, bucket) }),
      },
    )
    // the API takes writes before replication stands, which releases them when it knows what others did meanwhile
    ledger.holdClaims()
    return ledger
  } catch (error) {
    store.close()
    throw error
  }
}

function openStore(settings: Settings, folder: string): Store {
  const place = settings.ledgerState ?? folder
  try {
    makeFolder(place)
  } catch (cause) {
    throw new MeshError('node.state_unusable', `cannot make the folder ${place}`, {
      cause,
      hint: 'Give --ledger-state a folder that this user may write to.',
    })
  }
  return openDiskStore({
    path: join(place, 'ledger.db'),
    maxBytes: FILE_BYTES_PER_LEDGER_BYTE * settings.ledgerMaxBytes,
  })
}
