import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { isRunning, processLines, thisProcess } from './process-record.ts'

test('a process is running while it runs, and this one is no other', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const pid = child.pid ?? 0
  expect(isRunning({ pid })).toBe(true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isRunning({ pid })).toBe(false)
  expect(isRunning(thisProcess())).toBe(false)
})

test.skipIf(!existsSync('/proc/self/stat'))(
  'another process that was given the number of one that has ended is not taken for it',
  () => {
    const { began } = thisProcess()
    expect(began).toMatch(/^\d+$/)
    expect(isRunning({ pid: process.ppid })).toBe(true)
    expect(isRunning({ pid: process.ppid, began: '1' })).toBe(false)
    const { self, isRunning: isLineOfRunning } = processLines()
    expect(self).toBe(`${process.pid} ${began}`)
    expect([`${process.ppid}`, `${process.ppid} 1`, self, '', '-1', 'x 1'].map(isLineOfRunning)).toEqual([
      true,
      ...Array(5).fill(false),
    ])
  },
)

test.skipIf(!existsSync('/proc/self/stat'))(
  'one that was killed and whose parent does not ask for it has ended',
  async () => {
    // the shell's child ends, and the program that takes its place never waits for it
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer]
      const pid = Number(String(line))
      await eventually(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'))
      expect(isRunning({ pid })).toBe(true)
      process.kill(pid, 'SIGKILL')
      await eventually(() => expect(isRunning({ pid })).toBe(false))
      expect(existsSync(`/proc/${pid}`)).toBe(true)
    } finally {
      parent.kill('SIGKILL')
    }
  },
)
