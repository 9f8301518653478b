import type { Journals, ProcessRecord } from '../src/journals.ts'

/** A process that has ended. */
export const ENDED: ProcessRecord = { pid: 2 }
/** Another process that runs. */
export const RUNNING: ProcessRecord = { pid: 3 }
/** The text of a damaged journal. */
export const DAMAGE = '{"pid":'

export interface PlayedJournals extends Journals {
  /** The texts by name. */
  readonly kept: Map<string, string>
  /** The hints of damaged journals that were read. */
  readonly told: readonly string[]
}

/** Journals in memory. */
export function playJournals(): PlayedJournals {
  const kept = new Map<string, string>()
  const told: string[] = []
  const damaged = (name: string, hint: string) => {
    kept.delete(name)
    told.push(hint)
    return 'damaged' as const
  }
  return {
    kept,
    told,
    list: (prefix) => [...kept.keys()].filter((name) => name.startsWith(prefix)),
    read(name, schema, hint) {
      const text = kept.get(name)
      if (text === undefined) return undefined
      if (text === DAMAGE) return damaged(name, hint)
      return schema.safeParse(JSON.parse(text)).data ?? damaged(name, hint)
    },
    write: (name, journal) => void kept.set(name, JSON.stringify(journal)),
    remove: (name) => void kept.delete(name),
    thisProcess: () => ({ pid: process.pid }),
    isRunning: ({ pid }) => pid === RUNNING.pid,
  }
}
