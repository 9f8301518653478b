/** Journals of changes in the kernel, as small files of the state folder. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'
import type { Journals } from '@mesh/exit-node'
import { isRunning, thisProcess } from './process-record.ts'
import { readStateFile, writeStateFile } from './state-file.ts'

const SUFFIX = '.json'

export function createJournals(stateDir: string, log: Logger): Journals {
  const fileOf = (name: string) => join(stateDir, `${name}${SUFFIX}`)
  return {
    list: (prefix) =>
      namesIn(stateDir).flatMap((name) =>
        name.startsWith(prefix) && name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : [],
      ),
    read: (name, schema, hint) => readStateFile({ file: fileOf(name), schema, log, hint }),
    write: (name, journal) => writeStateFile(fileOf(name), journal),
    remove: (name) => rmSync(fileOf(name), { force: true }),
    thisProcess,
    isRunning,
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
