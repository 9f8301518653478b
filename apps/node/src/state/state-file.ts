/**
 * Small files of JSON in the state folder: written whole or not at all, and checked when they are read. A damaged one is
 * set aside as NAME.damaged, and the log says what that costs and what to do.
 */
import { renameSync } from 'node:fs'
import type { Logger } from '@mesh/core'
import type { ZodType } from 'zod'
import { readIfThere, replaceFile } from '../files/replace-file.ts'

export interface StateFile<T> {
  readonly file: string
  readonly schema: ZodType<T>
  readonly log: Logger
  /** Whole sentences that tell a person what to do when the file is damaged. */
  readonly hint: string
}

/** Undefined where there is no such file. Never throws. */
export function readStateFile<T extends object>(from: StateFile<T>): T | 'damaged' | undefined {
  const { file, schema, log, hint } = from
  let text: string | undefined
  try {
    text = readIfThere(file)
  } catch (error) {
    log.warn('state file not read', { file, error, hint })
    return 'damaged'
  }
  if (text === undefined) return undefined
  const value = parseState(text, schema)
  if (value !== undefined) return value
  log.warn('state file is damaged', { file: setAside(file), hint })
  return 'damaged'
}

/** @throws Error of the file system; what stood there before stays then */
export function writeStateFile(file: string, value: object): void {
  replaceFile(file, `${JSON.stringify(value)}\n`)
}

/** Undefined for a text that is no JSON, or whose fields are not as they were written. */
export function parseState<T>(text: string, schema: ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Gives the file's new name; the old one where the folder cannot be written. */
function setAside(file: string): string {
  try {
    renameSync(file, `${file}.damaged`)
    return `${file}.damaged`
  } catch {
    return file
  }
}
