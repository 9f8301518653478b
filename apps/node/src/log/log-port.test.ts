import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock } from '@mesh/testkit'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createLogger } from './create-logger.ts'
import { createLogLevels } from './log-level.ts'
import { createLogPort } from './log-port.ts'
import { createLogTail } from './log-tail.ts'

const folder = mkdtempSync(join(tmpdir(), 'mesh-log-'))
const file = join(folder, 'log-level')
afterEach(() => rmSync(file, { force: true }))
afterAll(() => rmSync(folder, { recursive: true }))

function start(text: string, isNamed = false) {
  const lines: string[] = []
  const levels = createLogLevels(text)
  const tail = createLogTail()
  const log = createLogger(
    { format: 'json', levels, color: false, debug: false },
    { clock: createManualClock(), write: (line) => lines.push(line), tail },
  )
  return { lines, log, port: createLogPort({ file, isNamed }, { levels, tail, log }) }
}

test('levels that are changed hold at once, for loggers that were there before too', () => {
  const { lines, log, port } = start('info')
  const reach = log.child('p2p').child('reach')
  reach.debug('no')
  port.set('warn,p2p=debug', undefined)
  reach.debug('yes')
  log.info('no')
  port.set('error', undefined)
  reach.warn('no')
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['yes'])
  expect([port.level(), port.subsystems().get('p2p/reach')]).toEqual(['error', 'error'])
})

test('the lines that the levels let through are served as people read them', () => {
  const { log, port } = start('info,p2p=debug')
  log
    .child('p2p')
    .child('reach')
    .debug('found\u001B[2J', { way: 'a b', error: new Error('no way') })
  log.child('api').debug('no')
  port.set('error', undefined)
  log.child('api').warn('no')
  log.error('last')
  const Time = '2026-01-01T00:00:00.000Z'
  expect(port.lines(0)).toEqual({
    Lines: [
      {
        Sequence: 1,
        Time,
        Level: 'debug',
        Subsystem: 'p2p/reach',
        Text: 'found\\u001b[2J way="a b" error="{\\"name\\":\\"Error\\",\\"message\\":\\"no way\\"}"',
      },
      { Sequence: 2, Time, Level: 'error', Subsystem: '', Text: 'last' },
    ],
    Next: 2,
  })
  expect(port.lines(1).Lines.map(({ Text }) => Text)).toEqual(['last'])
  expect(port.lines(2)).toEqual({ Lines: [], Next: 2 })
  expect(port.lines(9).Lines).toHaveLength(2)
})

test('levels are kept over a restart only when asked, and a start that names levels beats them', () => {
  start('info').port.set('debug', undefined)
  expect([start('info').port.level(), start('info').port.isKept()]).toEqual(['info', false])
  start('info').port.set('warn,vpn=debug', true)
  expect([start('info').port.level(), start('info').port.isKept()]).toEqual(['warn,vpn=debug', true])
  expect([start('error', true).port.level(), start('error', true).port.isKept()]).toEqual(['error', false])
  expect([statSync(file).mode & 0o777, readFileSync(file, 'utf8')]).toEqual([0o600, 'warn,vpn=debug\n'])
  start('info').port.set('info', false)
  expect(start('debug').port.level()).toBe('debug')
})

test('wrong levels are refused and change nothing; a damaged file is told of and does not count', () => {
  const { port } = start('info')
  for (const text of ['loud', 'p2p=loud', 'nothing=debug', '', 'info,,']) {
    expect(() => port.set(text, true)).toThrow('names no levels')
  }
  expect(port.level()).toBe('info')
  writeFileSync(file, 'loud\n')
  const { port: next, lines } = start('info')
  expect([next.level(), next.isKept()]).toEqual(['info', false])
  expect(lines.join('')).toContain('kept log levels are wrong')
})

test('levels that cannot be kept are in force, and the asker is told', () => {
  const levels = createLogLevels('info')
  const { log } = start('info')
  const port = createLogPort({ file: undefined, isNamed: false }, { levels, tail: createLogTail(), log })
  expect(() => port.set('debug', true)).toThrow('not kept')
  expect([port.level(), port.isKept()]).toEqual(['debug', false])
})
