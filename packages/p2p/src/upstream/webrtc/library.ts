/**
 * Ends the native library below WebRTC when its last user stops, and frees listeners only then.
 *
 * @library node-datachannel 0.33.4, @libp2p/webrtc 6.0.33
 * @wraps `cleanup` of the library, `stunServer` of the listeners of WebRTC Direct
 * @without The process ends with an abort: threads of the library call what was freed, or are alive at the exit.
 * @shown `upstream/webrtc/library.test.ts`
 */
import type { Listener } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { cleanup } from 'node-datachannel'
import { openInner } from '../inner-names.ts'
import { closeNow } from './close-order.ts'

let users = 0

/** Holds the library for a node; the returned function lets go of it, after all connections are closed. */
export function holdWebRtcLibrary(): () => void {
  users++
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    users--
    if (users > 0) return
    closeNow()
    cleanup()
  }
}

/** How long listeners outlive their host, in ms: peers send to them for a while. */
const LINGER_MS = 2_000

interface StunServer {
  close(): Promise<void>
}

/** Parts that are not freed yet: the native part is freed as soon as nothing refers to it. */
const lingering = new Set<unknown>()

/** Frees the native part of a listener some time after the listener has closed. */
export function freeLater<T extends Listener>(listener: T, clock: Clock): T {
  const close = listener.close.bind(listener)
  listener.close = async () => {
    const { stunServer } = openInner<{ stunServer: StunServer }>('@libp2p/webrtc 6.0.33', listener, [
      'stunServer',
    ])
    const free = stunServer.close.bind(stunServer)
    stunServer.close = async () => {
      if (lingering.has(stunServer)) return
      lingering.add(stunServer)
      clock.after(LINGER_MS, () => {
        lingering.delete(stunServer)
        void free()
      })
    }
    await close()
  }
  return listener
}
