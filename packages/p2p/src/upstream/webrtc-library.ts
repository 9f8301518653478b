/**
 * Ends the native library below WebRTC (node-datachannel 0.33.4), which has threads of its own: unless it is told that
 * nobody needs it any more, they keep the process alive for seconds, or end it with an abort when it exits. There is
 * one such library for a whole process, so its users are counted for the process too. Without it
 * `webrtc-library.test.ts` fails: a connection that was begun and never came about holds the process, closed or not.
 */
import { cleanup } from 'node-datachannel'
import { closeNow } from './webrtc-ends.ts'

let users = 0

/** Holds the library; gives the function that lets it go, once all connections are closed, and once only. */
export function holdWebRtcLibrary(): () => void {
  users++
  let held = true
  return () => {
    if (!held) return
    held = false
    users--
    if (users > 0) return
    closeNow()
    cleanup()
  }
}
