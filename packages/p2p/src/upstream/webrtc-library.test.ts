import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

/** Begins a connection, closes it before anyone answers, and lets go of the library. */
const SCRIPT = `
  import { RTCPeerConnection } from 'node-datachannel/polyfill'
  import { holdWebRtcLibrary } from './webrtc-library.ts'
  const release = holdWebRtcLibrary()
  const connection = new RTCPeerConnection()
  connection.createDataChannel('init')
  await connection.setLocalDescription(await connection.createOffer())
  connection.close()
  release()
`

test('a process ends although a WebRTC connection was begun that never came about', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: import.meta.dirname,
    stdio: 'inherit',
    timeout: 15_000,
    killSignal: 'SIGKILL',
  })
  expect(await once(child, 'exit')).toEqual([0, null])
}, 20_000)
