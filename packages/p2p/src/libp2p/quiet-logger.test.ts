import { expect, test } from 'vitest'
import { quietLogger } from './quiet-logger.ts'

test('all connections and streams of libp2p have the same logger, which says nothing', () => {
  const log = quietLogger.forComponent('libp2p:yamux')
  expect(log.newScope('inbound:1')).toBe(quietLogger.forComponent('libp2p:noise'))
  expect([log('text %s', 1), log.error(new Error('e')), log.trace('text'), log.enabled]).toEqual([
    undefined,
    undefined,
    undefined,
    false,
  ])
})
