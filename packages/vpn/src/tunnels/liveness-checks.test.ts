import { peerIdFromPublicKey } from '@mesh/core'
import { expect, test } from 'vitest'
import type { UdpPath } from '../paths/path-state.ts'
import { LivenessChecks } from './liveness-checks.ts'

const PEER = peerIdFromPublicKey(new Uint8Array(32).fill(1))
const SURE: UdpPath = {
  endpoint: { address: '192.0.2.1' as never, port: 4_700 },
  socket: undefined,
  alsoStream: false,
  mtu: 1_280,
}

test('a connection is looked at with each turn of its path for the worse, and there is no hurry to end it after that', () => {
  let path: UdpPath | undefined = SURE
  const looks: AbortSignal[] = []
  const doubts = new LivenessChecks({
    pathOf: () => path,
    network: { endDead: async (_peer, signal) => void looks.push(signal) },
  })
  const become = (next: UdpPath | undefined) => {
    path = next
    doubts.pathChanged(PEER)
  }
  become(SURE)
  expect(looks).toHaveLength(0)
  become({ ...SURE, alsoStream: true })
  become(undefined)
  expect(looks.map(({ aborted }) => aborted)).toEqual([false, false])
  become(SURE)
  expect(looks.map(({ aborted }) => aborted)).toEqual([true, true])
  become(undefined)
  doubts.stop()
  expect(looks.map(({ aborted }) => aborted)).toEqual([true, true, true])
})

test('another mapping of the NAT is a reason to look each time, and none to end anything soon', () => {
  const looks: AbortSignal[] = []
  const doubts = new LivenessChecks({
    pathOf: () => SURE,
    network: { endDead: async (_peer, signal) => void looks.push(signal) },
  })
  doubts.remapped(PEER)
  doubts.remapped(PEER)
  expect(looks.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('a peer that does not answer is looked at again and again, until something comes', async () => {
  const looks: { readonly signal: AbortSignal; readonly end: () => void }[] = []
  const doubts = new LivenessChecks({
    pathOf: () => undefined,
    network: {
      endDead: (_peer, signal) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        looks.push({ signal, end: resolve })
        return promise
      },
    },
  })
  doubts.unanswered(PEER)
  doubts.unanswered(PEER)
  expect(looks.map(({ signal }) => signal.aborted)).toEqual([false])
  looks[0]?.end()
  await Promise.resolve()
  await Promise.resolve()
  doubts.unanswered(PEER)
  doubts.answered(PEER)
  expect(looks.map(({ signal }) => signal.aborted)).toEqual([false, true])
  looks[1]?.end()
  await Promise.resolve()
  await Promise.resolve()
  doubts.unanswered(PEER)
  doubts.stop()
  expect(looks.map(({ signal }) => signal.aborted)).toEqual([false, true, true])
})
