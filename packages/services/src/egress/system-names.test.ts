import { expect, test } from 'vitest'
import { MAX_SYSTEM_LOOKUPS, WAITING_NAMES } from '../limits.ts'
import { SystemNames } from './system-names.ts'

const { signal } = new AbortController()
const { all: MAX_WAITING_NAMES, perAddress: MAX_WAITING_NAMES_PER_ASKER } = WAITING_NAMES

/** A system whose look-ups end when the test says so. */
function createSlowSystem() {
  const open = new Map<string, () => void>()
  const names = new SystemNames(
    (name) => new Promise((resolve) => open.set(name, () => resolve(['192.0.2.1']))),
  )
  return {
    ask: (asker: string, name: string, mine = signal) => names.lookUp(name, { asker, signal: mine }),
    asked: () => [...open.keys()],
    async finish(name: string) {
      open.get(name)?.()
      open.delete(name)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('of one asker one name is looked up at a time, so that another one need not wait for it', async () => {
  const system = createSlowSystem()
  void system.ask('a', 'a1')
  void system.ask('a', 'a2')
  void system.ask('b', 'b1')
  expect(system.asked()).toEqual(['a1', 'b1'])
  expect(MAX_SYSTEM_LOOKUPS).toBe(2)
  await system.finish('b1')
  expect(system.asked()).toEqual(['a1'])
})

test('the asker that was served longest ago is next, whichever asked first', async () => {
  const system = createSlowSystem()
  void system.ask('slow', 's1')
  void system.ask('other', 'o1')
  for (const name of ['s2', 's3']) void system.ask('slow', name)
  await system.finish('s1')
  await system.finish('o1')
  await system.finish('s2')
  void system.ask('late', 'l1')
  void system.ask('later', 'l2')
  await system.finish('s3')
  expect(system.asked()).toEqual(['l1', 'l2'])
})

test('who leaves waits no more, and those who ask for too much are refused', async () => {
  const system = createSlowSystem()
  void system.ask('x', 'x1')
  void system.ask('y', 'y1')
  const gone = new AbortController()
  const left = system.ask('z', 'z1', gone.signal)
  gone.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  const own = Array.from({ length: MAX_WAITING_NAMES_PER_ASKER + 1 }, (_, at) => system.ask('z', `z${at}`))
  await expect(own.at(-1)).rejects.toThrow('too many names')
  const most = MAX_WAITING_NAMES - MAX_WAITING_NAMES_PER_ASKER
  for (let at = 0; at < most; at++) void system.ask(`k${at}`, `k${at}`)
  void system.ask('one more', 'm1')
  await expect(own.at(-2)).rejects.toThrow('too many names')
})
