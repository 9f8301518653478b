/**
 * Keeps what was offered over the API in the instance's folder, so that it comes back after a restart. Mode
 * 0600: paths of the machine stand in it.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'

export type OfferKind = 'services' | 'connections' | 'files'

export interface KeptOffers {
  /** Target, listen address or path, by name. */
  all(kind: OfferKind): Readonly<Record<string, string>>
  has(kind: OfferKind, name: string): boolean
  put(kind: OfferKind, name: string, place: string): void
  remove(kind: OfferKind, name: string): void
}

/** @param folder undefined: nothing is kept over a restart */
export function openKeptOffers(folder: string | undefined, log: Logger): KeptOffers {
  const file = folder === undefined ? undefined : join(folder, 'offers.json')
  const held = file === undefined ? undefined : read(file, log)
  const maps: Readonly<Record<OfferKind, Map<string, string>>> = {
    services: placesOf(held, 'services'),
    connections: placesOf(held, 'connections'),
    files: placesOf(held, 'files'),
  }
  const write = () => {
    if (file === undefined) return
    const text = JSON.stringify(
      Object.fromEntries(Object.entries(maps).map(([kind, map]) => [kind, Object.fromEntries(map)])),
      undefined,
      2,
    )
    try {
      writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 })
      renameSync(`${file}.new`, file)
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

/** Texts by name; whatever else stands there is left out. */
function placesOf(held: unknown, kind: OfferKind): Map<string, string> {
  const places = isObject(held) ? held[kind] : undefined
  const pairs = Object.entries(isObject(places) ? places : {})
  return new Map(pairs.flatMap(([name, place]) => (typeof place === 'string' ? [[name, place]] : [])))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function read(file: string, log: Logger): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) log.warn('kept offers not read', { file, error })
    return undefined
  }
}
