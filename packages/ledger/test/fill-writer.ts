/**
 * Writes blocks of 100 KB into a store until it takes no more, lifts the limit on this process's files, and writes one more:
 * prints a line of JSON for each. Started by disk-store.test.ts with that limit.
 */
import { spawnSync } from 'node:child_process'
import { statSync, writeSync } from 'node:fs'
import { openDiskStore } from '../src/node.ts'

const path = process.argv[2] ?? ''
const MOST = 200

const store = openDiskStore({ path })
const value = JSON.stringify('x'.repeat(100_000))
const entry = { value, owner: '', version: 1n, updatedAt: 0, deleted: false, sig: null }

function say(fields: object): void {
  writeSync(1, `${JSON.stringify(fields)}\n`)
}

function write(index: number): boolean {
  const head = { index, timestamp: 't', hash: `h${index}`, prevHash: 'p' }
  const puts = [{ bucket: 'b', key: `k${index}`, entry }]
  try {
    store.commit({ head, fingerprint: 'f', puts, removes: [], pruned: [], forgotten: [] })
    return true
  } catch (error) {
    say({ index, error: String(error), logBytes: statSync(`${path}-wal`).size })
    return false
  }
}

let index = 0
while (index < MOST && write(index)) index++
spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
say({ index, isStored: write(index), stored: [...(store.load()?.entries ?? [])].length })
store.close()
