import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Listener } from '@libp2p/interface'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { freeLater } from './library.ts'

/** Begins a connection, closes it before anyone answers, and lets go of the library. */
const SCRIPT = `
  import { RTCPeerConnection } from 'node-datachannel/polyfill'
  import { holdWebRtcLibrary } from './library.ts'
  const release = holdWebRtcLibrary()
  const connection = new RTCPeerConnection()
  connection.createDataChannel('init')
  await connection.setLocalDescription(await connection.createOffer())
  connection.close()
  release()
`

test('a process ends although a WebRTC connection was begun that never came about', async () => {
  const child = spawn(
    process.execPath,
    ['--conditions=mesh-source', '--input-type=module', '--eval', SCRIPT],
    {
      cwd: import.meta.dirname,
      stdio: 'inherit',
      timeout: 15_000,
      killSignal: 'SIGKILL',
    },
  )
  expect(await once(child, 'exit')).toEqual([0, null])
}, 20_000)

test('the native part of a listener is freed once, and only a while after the listener has closed', async () => {
  const clock = createManualClock()
  let freed = 0
  const stunServer = { close: async () => void freed++ }
  const listener = { stunServer, close: () => stunServer.close() } as unknown as Listener
  freeLater(listener, clock)
  await Promise.all([listener.close(), listener.close()])
  await clock.advance(1_900)
  expect(freed).toBe(0)
  await clock.advance(200)
  expect(freed).toBe(1)
})
