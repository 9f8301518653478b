import { expect, test } from 'vitest'
import { STOOD_BEFORE_MS } from '../limits.ts'
import { superfluousConnections } from './duplicates.ts'
import type { SeenConnection } from './peer-state.ts'

const connection = (way: 'inbound' | 'outbound', options: Partial<SeenConnection> = {}) => ({
  outbound: way === 'outbound',
  direct: true,
  dialsBack: false,
  openedAt: 0,
  asked: false,
  used: false,
  ...options,
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

test('none is superfluous while one is asked whether it still carries something', () => {
  const both = [connection('inbound', { asked: true }), connection('outbound', { openedAt: STOOD_BEFORE_MS })]
  for (const dialsFirst of [true, false]) expect(superfluousConnections(dialsFirst, both)).toEqual([])
})

test('of one that stood before and one that was dialled in its place, whose side dialled closes the later one where nothing uses it', () => {
  for (const dialsFirst of [true, false]) {
    const older = connection('inbound')
    const later = (options: Partial<SeenConnection>) =>
      connection('outbound', { openedAt: STOOD_BEFORE_MS, ...options })
    const unused = later({})
    expect(superfluousConnections(dialsFirst, [older, unused])).toEqual([unused])
    expect(superfluousConnections(dialsFirst, [older, later({ used: true })])).toEqual([])
    expect(superfluousConnections(dialsFirst, [older, later({ outbound: false })])).toEqual([])
  }
})
