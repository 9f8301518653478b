import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MeshError, parseExactJson } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createLogger, type LoggerInit } from './create-logger.ts'
import { formatError } from '../cli/print-error.ts'
import { printableJson, printableText } from '../words/printable.ts'
import { SUBSYSTEMS } from './subsystems.ts'

function record(init: Partial<LoggerInit> = {}) {
  const lines: string[] = []
  const log = createLogger(
    { format: 'json', levels: 'info', color: false, debug: false, ...init },
    { clock: createManualClock(), write: (line) => lines.push(line) },
  )
  return { lines, log }
}

test('a JSON line has time, level, subsystem, message and fields, with integers exact', () => {
  const { lines, log } = record()
  log.child('ledger').info('entry accepted', { version: 1795228706793270807n, none: undefined, level: 'x' })
  expect(lines).toEqual([
    '{"time":"2026-01-01T00:00:00.000Z","level":"info","subsystem":"ledger","message":"entry accepted","version":1795228706793270807,"level_":"x"}\n',
  ])
})

test('a line for people cannot steer their terminal', () => {
  const { lines, log } = record({ format: 'human' })
  log.warn('refused', { name: 'evil\u001B[2J\nname', plain: 'x' })
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn  refused name="evil\\u001b\[2J\\nname" plain=x\n$/)
})

test('JSON cannot steer a terminal either, and reads back as what it was', () => {
  const value = { Name: 'a\u007F\u009B2J\u202Eb\u061C\n\uFEFF\u200B\u{E0041}', Version: 1795228706793270807n }
  const text = printableJson(value, 2)
  expect(text).toBe(
    '{\n  "Name": "a\\u007f\\u009b2J\\u202eb\\u061c\\n\\ufeff\\u200b\\udb40\\udc41",\n  "Version": 1795228706793270807\n}\n',
  )
  expect(parseExactJson(text)).toEqual(value)
  const { lines, log } = record()
  log.warn('refused', { name: '\u009B2J' })
  expect(lines[0]).toContain('"name":"\\u009b2J"')
})

test('a subsystem has its own level, which holds below it', () => {
  const { lines, log } = record({ levels: 'warn,p2p=debug,api=off' })
  log.info('no')
  log.child('p2p').child('room').debug('yes')
  log.child('api').error('no')
  log.child('ledger').warn('yes')
  expect(lines).toHaveLength(2)
})

test('an error is its code and message; the stack only with --debug', () => {
  const error = new MeshError('ledger.not_owner', 'not yours')
  const { lines, log } = record()
  log.error('it failed', { error })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    error: { code: 'ledger.not_owner', message: 'not yours' },
  })
  expect(lines[0]).not.toContain('stack')
  const debug = record({ debug: true })
  debug.log.error('it failed', { error })
  expect(debug.lines[0]).toContain('stack')
})

test('a field that cannot be printed spoils nothing', () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  const { lines, log } = record()
  log.info('odd', { circular, bytes: new Uint8Array(3), long: 'x'.repeat(5000) })
  const line = JSON.parse(lines[0] ?? '') as { long: string }
  expect(line).toMatchObject({ circular: 'unprintable', bytes: '3 bytes' })
  expect(line.long.length).toBeLessThan(2100)
})

test('an error is printed with its code, what is wrong in each field, and what to do', () => {
  const error = new MeshError('node.bad_input', 'two options are wrong', {
    issues: [{ field: '--listen', value: 'x\u001B', expected: 'an address' }],
    hint: 'See --help.',
  })
  expect(formatError(error, { debug: false }).split('\n')).toEqual([
    'mesh: two options are wrong [node.bad_input]',
    '  --listen: expected an address, got "x\\u001b"',
    '  See --help.',
  ])
  expect(formatError(error, { debug: true })).toContain('at ')
})

test('a cause is told where it adds something', () => {
  const told = (cause: Error) =>
    formatError(new MeshError('engine.system', 'no interface', { cause }), { debug: false })
  expect(told(new Error('Invalid argument'))).toContain('because: Invalid argument')
  expect(told(new Error('engine.system\nno interface'))).not.toContain('because')
})

test('the list of subsystems is that of the loggers in the code', () => {
  const root = join(import.meta.dirname, '../../../..')
  const sources = globSync(['packages/*/src/**/*.ts', 'apps/node/src/**/*.ts'], {
    cwd: root,
    exclude: (path) => path.endsWith('.test.ts'),
  })
  const made = sources.flatMap((path) => {
    const code = readFileSync(join(root, path), 'utf8')
    return [...code.matchAll(/\.child\('([^']+)'\)/g)].map(([, name]) => name)
  })
  expect(new Set(made)).toEqual(new Set(SUBSYSTEMS.flatMap((path) => path.split('/'))))
})

test('people read short names and numbers, programs all of it', () => {
  const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
  const write = (log: ReturnType<typeof record>['log']) => {
    log.info('api listening', { id: PEER, name: 'nas', network: 'a3aef9821d7c70a7dfd6', instance: 'node' })
    log.info('host listening', {
      addresses: Array.from({ length: 9 }, (_, at) => `/ip4/192.0.2.${at}/tcp/1/p2p/${PEER}`),
    })
    log.info('members found', { peers: ['a', 'b', PEER], names: ['nas', 'lap\u001B[31mtop', PEER] })
    log.info('members lost', { peers: [PEER], names: ['nas'] })
    log.info('something else', { peer: PEER, list: Array.from({ length: 9 }, () => PEER) })
  }
  const human = record({ format: 'human' })
  write(human.log)
  expect(human.lines.map((line) => line.slice('hh:mm:ss info  '.length))).toEqual([
    'this node is nas (12D3…HYdBfeSB), instance node in network a3aef9821d7c70a7dfd6\n',
    'listening on 9 addresses\n',
    'found 3 members: nas, lap\\u001b[31mtop, 12D3…HYdBfeSB\n',
    'lost 1 member: nas\n',
    'something else peer=12D3…HYdBfeSB list=9\n',
  ])
  const json = record({ format: 'json' })
  write(json.log)
  expect(JSON.parse(json.lines[1] ?? '')).toMatchObject({ addresses: { length: 9 } })
  expect(JSON.parse(json.lines[2] ?? '')).toMatchObject({ message: 'members found', peers: ['a', 'b', PEER] })
})

test('a text of several lines keeps line feeds and tabs, and shows what a terminal would act on', () => {
  const text = 'a\tb\nc\r\u001b[2J\u007f\u009b31m\u202e\u2060\n'
  expect(printableText(text)).toBe('a\tb\nc\\u000d\\u001b[2J\\u007f\\u009b31m\\u202e\\u2060\n')
})
