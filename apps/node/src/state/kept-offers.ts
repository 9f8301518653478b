/**
 * Keeps what was offered over the API in the instance's folder, so that it comes back after a restart. Mode
 * 0600: paths of the machine stand in it.
 */
import { join } from 'node:path'
import type { Logger } from '@mesh/core'
import * as z from 'zod'
import { readStateFile, writeStateFile } from './state-file.ts'

export type OfferKind = 'services' | 'connections' | 'files'

export interface KeptOffers {
  /** Target, listen address or path, by name. */
  all(kind: OfferKind): Readonly<Record<string, string>>
  has(kind: OfferKind, name: string): boolean
  put(kind: OfferKind, name: string, place: string): void
  remove(kind: OfferKind, name: string): void
}

const places = z.record(z.string(), z.string()).default({})

/** Target, listen address or path, by name. */
export const offersFile = z.object({ services: places, connections: places, files: places })

const DAMAGED =
  'What was offered over the API or by commands beside the node is not offered any more: offer it anew, or put right what stands in the file, rename it to offers.json and start the node again.'

/** @param folder undefined: nothing is kept over a restart */
export function openKeptOffers(folder: string | undefined, log: Logger): KeptOffers {
  const file = folder === undefined ? undefined : join(folder, 'offers.json')
  const read =
    file === undefined ? undefined : readStateFile({ file, schema: offersFile, log, hint: DAMAGED })
  const held = read === 'damaged' ? undefined : read
  const maps: Readonly<Record<OfferKind, Map<string, string>>> = {
    services: new Map(Object.entries(held?.services ?? {})),
    connections: new Map(Object.entries(held?.connections ?? {})),
    files: new Map(Object.entries(held?.files ?? {})),
  }
  const write = () => {
    if (file === undefined) return
    try {
      writeStateFile(
        file,
        Object.fromEntries(Object.entries(maps).map(([kind, map]) => [kind, Object.fromEntries(map)])),
      )
    } catch (error) {
      log.warn('offers are not kept', { file, error })
    }
  }
  return {
    all: (kind) => Object.fromEntries(maps[kind]),
    has: (kind, name) => maps[kind].has(name),
    put(kind, name, place) {
      maps[kind].set(name, place)
      write()
    },
    remove(kind, name) {
      if (maps[kind].delete(name)) write()
    },
  }
}
