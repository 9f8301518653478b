import type { Cidr, PeerId } from '@mesh/core'
import { expect, test } from 'vitest'
import { checkPolicy } from './check-policy.ts'
import { type Endpoint, formatEndpoint, type RuleLayer } from './judge.ts'
import { buildRuleSet } from './rule-set.ts'
import { buildReachTable, compareRules, wordsFor } from './rule-table.ts'

const member = (name: string): Endpoint => ({ kind: 'member', peer: name as PeerId })
const [A, B, C] = [member('a'), member('b'), member('c')]
const NET: Endpoint = { kind: 'route', range: '10.0.0.0/8' as Cidr }
const EXIT: Endpoint = { kind: 'exit' }
const ENDS = [A, B, C, NET, EXIT]

function layerOf(policy: unknown): RuleLayer {
  return { name: 'network', rules: buildRuleSet(checkPolicy(policy)) }
}

const texts = (ends: readonly Endpoint[]) => ends.map(formatEndpoint).join()

test('endpoints that the rules treat alike stand in one row', () => {
  const layer = layerOf({
    tags: { web: ['b', 'c'] },
    allow: [
      { from: ['a'], to: ['tag:web'], on: ['tcp:443', 'icmp'] },
      { from: ['*'], to: ['tag:web'], on: ['icmp'] },
      { from: ['a'], to: ['exit', 'route:10.0.0.0/8'], on: ['*'] },
    ],
  })
  const { rows, isCut } = buildReachTable(layer, ENDS)
  expect(isCut).toBe(false)
  expect(rows.map(({ from, to, on }) => `${texts(from)} > ${texts(to)}: ${on.join()}`)).toEqual([
    'a > b,c: icmp,tcp:443',
    'a > route:10.0.0.0/8: *',
    'a > exit: *',
    'b,c > b,c: icmp',
    'route:10.0.0.0/8 > b,c: icmp',
  ])
  expect(wordsFor(layer, A, B)).toEqual(['icmp', 'tcp:443'])
  expect(wordsFor(undefined, B, A)).toEqual(['*'])
})

test('a comparison lists the pairs that gain or lose, and nothing that stays', () => {
  const rule = { from: ['a'], to: ['b'], on: ['tcp:443'] }
  const before = layerOf({ allow: [rule, { from: ['b'], to: ['a'], on: ['icmp'] }] })
  const after = layerOf({ allow: [rule, { from: ['c'], to: ['a'], on: ['*'] }] })
  const changes = compareRules(before, after, ENDS).rows.map(
    (row) => `${texts(row.from)} > ${texts(row.to)}: ${row.before.join()} > ${row.after.join()}`,
  )
  expect(changes).toEqual(['b > a: icmp > ', 'c > a:  > *'])
  expect(compareRules(undefined, layerOf({ default: 'allow' }), ENDS).rows).toEqual([])
})
