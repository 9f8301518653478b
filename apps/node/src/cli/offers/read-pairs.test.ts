import { expect, test } from 'vitest'
import { parseFile, parseOffer } from '../../settings/service-values.ts'
import { commands } from '../commands.ts'
import { readPairs } from './read-pairs.ts'

const command = commands.find(({ name }) => name === 'service-add') as (typeof commands)[number]
const init = { second: 'TARGET', parse: parseOffer, isOptional: false }
const read = (positionals: readonly string[], isOptional = false) =>
  readPairs({ positionals, command }, { ...init, isOptional })

test('names and places come by turns, as many as are given', () => {
  expect(read(['web', ':80'])).toEqual(['web=:80'])
  expect(read(['web', ':80', 'dns', 'udp:127.0.0.1:53'])).toEqual(['web=:80', 'dns=udp:127.0.0.1:53'])
  expect(read([], true)).toEqual([])
})

test.each([
  [[], 'NAME is missing'],
  [['web'], 'TARGET is missing'],
  [['web', ':80', 'dns'], 'TARGET of "dns" is missing'],
  [['web', ':80', 'dns', 'nowhere'], 'got "dns nowhere"'],
])('%j is refused', (positionals, message) => {
  expect(() => read(positionals)).toThrow(message)
})

test('a name with = does not move its end into the path', () => {
  const files = { second: 'PATH', parse: parseFile, isOptional: false }
  expect(() => readPairs({ positionals: ['a=b', '/srv'], command }, files)).toThrow('a NAME without =')
})
