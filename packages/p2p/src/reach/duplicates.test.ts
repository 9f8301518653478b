import { expect, test } from 'vitest'
import { superfluousConnections } from './duplicates.ts'

const connection = (
  way: 'inbound' | 'outbound',
  options: { direct?: boolean; dialsBack?: boolean } = {},
) => ({
  outbound: way === 'outbound',
  direct: options.direct ?? true,
  dialsBack: options.dialsBack ?? false,
})
const ways = (connections: readonly { readonly outbound: boolean }[]) =>
  connections.map(({ outbound }) => (outbound ? 'outbound' : 'inbound'))

test('both ends keep the connection that the smaller id dialled, in whatever order they saw them', () => {
  const both = [connection('inbound'), connection('outbound')]
  for (const order of [both, both.toReversed()]) {
    expect(ways(superfluousConnections(true, order))).toEqual(['inbound'])
    expect(ways(superfluousConnections(false, order))).toEqual(['outbound'])
  }
})

test('of two that one side dialled only that side closes one', () => {
  for (const dialsFirst of [true, false]) {
    expect(superfluousConnections(dialsFirst, [connection('outbound'), connection('outbound')])).toHaveLength(
      1,
    )
    expect(superfluousConnections(dialsFirst, [connection('inbound'), connection('inbound')])).toEqual([])
  }
})

test('of two relayed ones the side that dialled both closes one', () => {
  const relayed = (way: 'inbound' | 'outbound') => connection(way, { direct: false })
  expect(superfluousConnections(true, [relayed('outbound'), relayed('outbound')])).toHaveLength(1)
  expect(superfluousConnections(true, [relayed('inbound'), relayed('inbound')])).toEqual([])
})

test('a relayed connection beside a direct one is not closed at once', () => {
  const both = [connection('outbound', { direct: false }), connection('inbound')]
  expect(superfluousConnections(true, both)).toEqual([])
})

test('none is superfluous while one dials the other back for AutoNAT', () => {
  const both = [connection('inbound', { dialsBack: true }), connection('outbound')]
  expect(superfluousConnections(true, both)).toEqual([])
})
