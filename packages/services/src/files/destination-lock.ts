/**
 * Lets one transfer at a time write to a place: among those of this process by a set, among processes by a file that
 * names its holder. A file that was left by a process that is gone holds nobody up, also where another process has
 * got its number since.
 */
import { open, readFile, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { filesError } from './errors.ts'
import { isSystemError } from './scan.ts'

export interface DestinationLocks {
  /**
   * Resolves with what lets it go.
   * @param path of the lock's file, in a folder that exists
   * @throws MeshError `files.locked`
   */
  take(path: string): Promise<() => Promise<void>>
}

export function createDestinationLocks(init: { readonly processId: number }): DestinationLocks {
  return new ProcessLocks(init.processId)
}

class ProcessLocks implements DestinationLocks {
  readonly #processId: number
  /** The files that transfers of this process hold, by their real path. */
  readonly #held = new Set<string>()

  constructor(processId: number) {
    this.#processId = processId
  }

  async take(path: string): Promise<() => Promise<void>> {
    // links may lead to one folder by several ways
    const file = join(await realpath(dirname(path)), basename(path))
    if (this.#held.has(file)) throw locked('another transfer of this node', file)
    this.#held.add(file)
    try {
      await this.#write(file)
    } catch (error) {
      this.#held.delete(file)
      throw error
    }
    return async () => {
      if (!this.#held.has(file)) return
      await rm(file, { force: true })
      this.#held.delete(file)
    }
  }

  async #write(file: string): Promise<void> {
    const own = await holderOf(this.#processId)
    for (let tries = 0; tries < 2; tries++) {
      try {
        const handle = await open(file, 'wx', 0o600)
        await handle.writeFile(own)
        return await handle.close()
      } catch (error) {
        if (!isSystemError(error) || error.code !== 'EEXIST') throw error
      }
      const holder = await readFile(file, 'utf8').catch(() => '')
      if (holder !== own && (await isHolding(holder))) throw locked(`process ${parseInt(holder, 10)}`, file)
      await rm(file, { force: true })
    }
    throw locked('another process', file)
  }
}

function locked(who: string, file: string) {
  return filesError('files.locked', `${who} receives to ${dirname(file)} already`, {
    hint: 'Wait for it, end it, or give another destination.',
  })
}

/** Text that names a process for as long as it lives: its number, and where the system tells it when it began. */
async function holderOf(processId: number): Promise<string> {
  return `${processId} ${await beginningOf(processId)}`.trim()
}

async function isHolding(holder: string): Promise<boolean> {
  const [number = '', began = ''] = holder.split(' ')
  const processId = Number(number)
  if (!isRunning(processId)) return false
  const now = await beginningOf(processId)
  return began === '' || now === '' || began === now
}

function isRunning(processId: number): boolean {
  if (!Number.isSafeInteger(processId) || processId <= 0) return false
  try {
    return process.kill(processId, 0)
  } catch (error) {
    return isSystemError(error) && error.code === 'EPERM'
  }
}

/** Clock ticks from the machine's start to that of the process; empty where the system does not tell. */
async function beginningOf(processId: number): Promise<string> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => '')
  // the command's name stands in parentheses and may hold spaces; the fields behind it begin with the third
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[STARTTIME_FIELD - 3] ?? ''
}

/** Number of the field in `/proc/PID/stat`, as proc(5) counts them. */
const STARTTIME_FIELD = 22
