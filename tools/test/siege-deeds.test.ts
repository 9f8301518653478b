/** What is told of attacks that did not reach their node: each proves nothing, and is named. */
import { expect, test } from 'vitest'
import type { SiegeDeed } from '../attack/siege-attackers.ts'
import { describeOutcomes, outcomesOf } from '../attack/siege-deeds.ts'
import { webRtcFault } from '../attack/scenarios/webrtc.ts'
import { RefusedError, Tally } from '../attack/tally.ts'
import { untilTrue } from '../attack/until-true.ts'

const { signal } = new AbortController()

/** What a tally says of an attack whose tries ended with these errors. */
function carriedAfter(...errors: readonly unknown[]) {
  const tally = new Tally()
  for (const error of errors) tally.missed(error, signal)
  return tally.carried('streams')
}

test('an attack is carried out, refused, kept out, never ran, or failed by itself', async () => {
  const late = await untilTrue(0, async () => false).catch((error: unknown) => error)
  const dial = new AggregateError([new Error('x', { cause: late })])
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  const own = Object.assign(new Error('taken'), { code: 'EADDRINUSE' })
  const handshake = Object.assign(new Error('Encryption failed'), { name: 'EncryptionFailedError' })
  for (const error of [late, dial, handshake]) expect(carriedAfter(error, own)).toBe('kept out')
  expect(carriedAfter(late, reset)).toBe('refused')
  expect(carriedAfter(new RefusedError('no'))).toBe('refused')
  expect([carriedAfter(), carriedAfter(own)]).toEqual(['never ran', 'failed'])
  const tally = new Tally()
  tally.missed(late, signal)
  tally.count('streams')
  expect(tally.carried('streams')).toBe('carried out')
  expect(String(tally)).toBe('1 streams, 1 kept out (mostly TimeoutError: not within 0 ms)')
})

test('what the library of WebRTC throws on a connection is no failure of the attack, and other errors are', () => {
  const sending = 'libdatachannel error while sending data channel message'
  for (const words of [
    `${sending}: DataChannel is closed`,
    `${sending}: Sending failed, errno=32`,
    'createDataChannel() called on destroyed peer connection',
  ])
    expect(carriedAfter(webRtcFault(new Error(words)))).toBe('refused')
  expect(carriedAfter(webRtcFault(new Error(`${sending}: Sending failed, errno=105`)))).toBe('kept out')
  expect(carriedAfter(webRtcFault(new Error('no such address')))).toBe('failed')
})

test('a siege names the attacks that prove nothing, those among them of which nothing was told', () => {
  const deed = (name: string, carried: SiegeDeed['carried']): SiegeDeed => ({
    name,
    node: 0,
    carried,
    said: '',
  })
  const deeds = [deed('a', 'carried out'), deed('b', 'refused'), deed('c', 'kept out'), deed('d', 'failed')]
  const outcomes = outcomesOf(deeds, ['a', 'b', 'c', 'd', 'e'])
  expect(outcomes).toEqual({
    carriedOut: 1,
    refused: ['b'],
    keptOut: ['c'],
    neverRan: ['e'],
    failed: ['d'],
  })
  expect(describeOutcomes(outcomes)).toBe(
    '1 of 5 attacks were carried out; 1 were refused at the door (b); ' +
      '1 did not reach their node and prove nothing (c); 1 never ran and prove nothing (e); ' +
      '1 failed by themselves and prove nothing (d)',
  )
  expect(describeOutcomes(outcomesOf([deed('a', 'carried out')], ['a']))).toBe(
    '1 of 1 attacks were carried out',
  )
})
