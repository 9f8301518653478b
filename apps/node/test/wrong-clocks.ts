/** Nodes whose clock is set by a file, through libfaketime: it may step while they run, and monotonic time goes on. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where packages of distributions have it; in some of them below a folder that is named after the machine. */
const FOLDERS = ['/usr/lib', '/usr/lib64', '/usr/local/lib']

/** The library; undefined where it is not installed. */
export function findFakeTime(): string | undefined {
  const folders = FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) => [
    join(folder, 'faketime'),
    ...readdirSync(folder)
      .filter((name) => name.endsWith('-linux-gnu'))
      .map((name) => join(folder, name, 'faketime')),
  ])
  return folders.map((folder) => join(folder, 'libfaketimeMT.so.1')).find((file) => existsSync(file))
}

export interface SetClock {
  /** For the process that is to have this clock. */
  readonly environment: Readonly<Record<string, string>>
  /** Sets it to so many minutes ahead of this machine's; less than zero: behind. */
  set(minutes: number): void
}

/** A clock of its own, right until it is set. */
export function createSetClock(library: string, file: string): SetClock {
  const set = (minutes: number) => writeFileSync(file, `${minutes < 0 ? '-' : '+'}${Math.abs(minutes)}m\n`)
  set(0)
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
  }
}
