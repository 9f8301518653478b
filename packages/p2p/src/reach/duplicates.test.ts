import { peerIdFromString } from '@libp2p/peer-id'
import { expect, test } from 'vitest'
import { isDialledBack, superfluous } from './duplicates.ts'

const SMALL = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const GREAT = '12D3KooWSTMriKNBgPK4BSjXU9q92hDagQufhCSFXSM3iDC2bmCp'

function connection(remote: string, direction: 'inbound' | 'outbound', direct = true) {
  return {
    remotePeer: peerIdFromString(remote),
    direction,
    direct,
    status: 'open' as const,
    timeline: { open: 0 },
  }
}

test('both ends keep the connection that the smaller id dialled, in whatever order they saw them', () => {
  const atSmall = [connection(GREAT, 'inbound'), connection(GREAT, 'outbound')]
  const atGreat = [connection(SMALL, 'outbound'), connection(SMALL, 'inbound')]
  for (const order of [atSmall, atSmall.toReversed()]) {
    expect(superfluous(SMALL, order).map(({ direction }) => direction)).toEqual(['inbound'])
  }
  for (const order of [atGreat, atGreat.toReversed()]) {
    expect(superfluous(GREAT, order).map(({ direction }) => direction)).toEqual(['outbound'])
  }
})

test('of two that one side dialled only that side closes one', () => {
  expect(superfluous(SMALL, [connection(GREAT, 'outbound'), connection(GREAT, 'outbound')])).toHaveLength(1)
  expect(superfluous(GREAT, [connection(SMALL, 'inbound'), connection(SMALL, 'inbound')])).toEqual([])
  expect(superfluous(GREAT, [connection(SMALL, 'outbound'), connection(SMALL, 'outbound')])).toHaveLength(1)
  expect(superfluous(SMALL, [connection(GREAT, 'inbound'), connection(GREAT, 'inbound')])).toEqual([])
})

test('a relayed connection beside a direct one is not closed here', () => {
  const both = [connection(GREAT, 'outbound', false), connection(GREAT, 'inbound')]
  expect(superfluous(SMALL, both)).toEqual([])
})

test('none is superfluous while one dials the other back for AutoNAT', () => {
  const streams = (...protocols: string[]) => ({ streams: protocols.map((protocol) => ({ protocol })) })
  expect(isDialledBack([streams('/meshsub/1.1.0', '/libp2p/autonat/2/dial-request'), streams()])).toBe(true)
  expect(isDialledBack([streams('/meshsub/1.1.0'), streams('/libp2p/autonat/2/dial-back')])).toBe(false)
})
