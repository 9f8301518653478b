import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { peerIdFromPublicKey } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { DEAD_AFTER_MS } from '../limits.ts'
import { endDead } from './end-dead.ts'

const PEER = peerIdFromPublicKey(new Uint8Array(32).fill(1))

/** A connection on which no stream is ever opened, or on which the peer refuses one. */
function connection(address: string, answer: 'never' | 'refusal') {
  let aborted = false
  const newStream = (_protocols: readonly string[], { signal }: { readonly signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      if (answer === 'refusal') return reject(new Error('unsupported'))
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const open = {
    remotePeer: { toString: () => PEER },
    remoteAddr: multiaddr(address),
    status: 'open',
    direct: true,
    newStream,
    abort: () => (aborted = true),
  }
  return { open: open as unknown as Connection, wasAborted: () => aborted }
}

async function judged(isSureAgain: boolean) {
  const clock = createManualClock()
  const dead = connection('/ip4/5.5.5.5/udp/4000/webrtc', 'never')
  const alive = connection('/ip4/5.5.5.5/udp/4001/quic-v1', 'refusal')
  const tcp = connection('/ip4/5.5.5.5/tcp/4001', 'never')
  const doubt = new AbortController()
  const host = { getConnections: () => [dead, alive, tcp].map(({ open }) => open) }
  const ending = endDead(host, PEER, { clock, random: createSeededRandom(1), signal: doubt.signal })
  await clock.advance(DEAD_AFTER_MS / 2)
  if (isSureAgain) doubt.abort()
  await clock.advance(DEAD_AFTER_MS)
  await ending
  return [dead, alive, tcp].map(({ wasAborted }) => wasAborted())
}

test('of the connections over UDP those that do not answer end, and no others', async () => {
  expect(await judged(false)).toEqual([true, false, false])
})

test('none ends once there is no doubt any more', async () => {
  expect(await judged(true)).toEqual([false, false, false])
})
