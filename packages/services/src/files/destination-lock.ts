/**
 * Lets one transfer at a time write to a place: among those of this process by a set, among processes by a file that
 * names its holder. A file that was left by a process that is gone holds nobody up.
 */
import { open, readFile, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { filesError } from './errors.ts'
import { isSystemError } from './scan.ts'

/** The processes that may hold a place. */
export interface HolderProcesses {
  /** Names this process for as long as it lives, in one line. */
  readonly self: string
  /** Says whether the process of such a name, other than this one, runs. */
  isRunning(name: string): boolean
}

export class DestinationLocks {
  readonly #processes: HolderProcesses
  /** The files that transfers of this process hold, by their real path. */
  readonly #held = new Set<string>()

  constructor(processes: HolderProcesses) {
    this.#processes = processes
  }

  /**
   * Resolves with what lets it go.
   * @param path of the lock's file, in a folder that exists
   * @throws MeshError `files.locked`
   */
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
    const { self } = this.#processes
    for (let tries = 0; tries < 2; tries++) {
      try {
        const handle = await open(file, 'wx', 0o600)
        await handle.writeFile(self)
        return await handle.close()
      } catch (error) {
        if (!isSystemError(error) || error.code !== 'EEXIST') throw error
      }
      const holder = await readFile(file, 'utf8').catch(() => '')
      if (holder !== self && this.#processes.isRunning(holder))
        throw locked(`process ${holder.split(' ')[0]}`, file)
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
