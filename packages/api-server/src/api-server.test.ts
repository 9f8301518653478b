import { createLedger, createSigner } from '@mesh/ledger'
import { expect, test } from 'vitest'
import { indentJson } from './messages/indent-json.ts'
import * as index from './index.ts'
import { formatMetrics } from './views/exposition.ts'
import { isNestedDeeper } from './views/json-text.ts'
import type { AnswerBody } from './views/answer-parts.ts'
import { createLedgerTexts } from './views/ledger-text.ts'

test('has these public names', () => {
  expect(Object.keys(index).sort()).toEqual([
    'TOKEN_LEVELS',
    'counter',
    'createApiServer',
    'createToken',
    'formatListenAddress',
    'gauge',
    'isTokenText',
    'labelled',
    'parseListenAddress',
    'parseTokenLine',
    'parseTokenList',
  ])
})

test('what is asked often is made once for each snapshot', async () => {
  const ledger = createLedger({}, { signer: createSigner(new Uint8Array(32)) })
  await ledger.put('b', 'k', '1').settled
  const texts = createLedgerTexts(ledger)
  const text = () => texts.last()
  const first = text()
  expect(text()).toBe(first)
  expect(first.ledger('json')).toBe(first.ledger('json'))
  expect(first.bucket('b', 'text')).toBe(first.bucket('b', 'text'))
  expect(first.block()).toBe(first.block())
  await ledger.put('b', 'k', '2').settled
  expect(text()).not.toBe(first)
  expect(wholeText(text().ledger('json'))).toBe('{"b":{"k":2}}\n')
  expect(wholeText(first.ledger('json'))).toBe('{"b":{"k":1}}\n')
  const second = text()
  texts.forget()
  expect(text()).not.toBe(second)
  await ledger.stop()
})

test('only so many buckets are kept serialised', async () => {
  const ledger = createLedger({}, { signer: createSigner(new Uint8Array(32)) })
  const text = createLedgerTexts(ledger).last()
  const kept = text.bucket('first', 'json')
  for (let at = 0; at < 63; at++) text.bucket(`b${at}`, 'json')
  expect(text.bucket('first', 'json')).toBe(kept)
  text.bucket('one more', 'json')
  expect(text.bucket('first', 'json')).not.toBe(kept)
  await ledger.stop()
})

test('nesting is counted outside of strings', () => {
  expect(isNestedDeeper('[[[1]]]', 3)).toBe(false)
  expect(isNestedDeeper('[[[1]]]', 2)).toBe(true)
  expect(isNestedDeeper('[["[[[[\\"[[["],[1]]', 2)).toBe(false)
  expect(isNestedDeeper('[1],[1],[1]', 1)).toBe(false)
})

test('metrics are written so that no label can break out of its line', () => {
  const samples = [
    { labels: { a: 'x"\\\ny' }, value: 1 },
    { value: 2n ** 64n },
    { value: Number.NaN },
    { value: -Infinity },
  ]
  expect(formatMetrics([{ name: 'm_total', help: 'a\nb\\', type: 'counter', samples }])).toBe(
    '# HELP m_total a\\nb\\\\\n# TYPE m_total counter\n' +
      'm_total{a="x\\"\\\\\\ny"} 1\nm_total 18446744073709551616\nm_total NaN\nm_total -Inf\n',
  )
})

test('JSON is indented as JSON.stringify would', () => {
  const value = { a: [1, [], {}, [[]], { b: 'x: {,[ "\\' }], c: null, '': { d: [true, -1.5e9] } }
  expect(indentJson(JSON.stringify(value))).toBe(`${JSON.stringify(value, undefined, 2)}\n`)
  for (const plain of ['1', '"a b"', '[]', '{}']) expect(indentJson(plain)).toBe(`${plain}\n`)
})

function wholeText(body: AnswerBody): string {
  return Buffer.isBuffer(body) ? body.toString() : [...body].join('')
}
