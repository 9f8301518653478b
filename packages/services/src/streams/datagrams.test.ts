import { systemClock } from '@mesh/core'
import { expect, test } from 'vitest'
import { createStreamPair } from '../../test/stream-pair.ts'
import { MAX_DATAGRAMS_AT_ONCE } from '../limits.ts'
import { pipeDatagrams } from './datagrams.ts'

const peer = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB' as Parameters<typeof createStreamPair>[0]

test('a block of datagrams without a byte is no system call for each of its bytes', () => {
  const sent: Uint8Array[] = []
  const { far } = createStreamPair(peer, peer)
  const pipe = pipeDatagrams(far, {
    head: new Uint8Array(60_000),
    traffic: { bytesIn: 0, bytesOut: 0 },
    onDatagram: (datagram) => sent.push(datagram),
    onDone() {},
    clock: systemClock,
  })
  expect(sent).toHaveLength(MAX_DATAGRAMS_AT_ONCE)
  pipe.close()
})
