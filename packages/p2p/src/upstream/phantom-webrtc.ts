/**
 * Tells a WebRTC connection that never came about. `@libp2p/webrtc` takes the end of signalling for success, whatever
 * ended it, and hands out a connection through which nothing passes.
 *
 * Pinned by the lockfile: @libp2p/webrtc 6.0.33, where it still happens. Upstream: libp2p/js-libp2p issue 2646, and
 * pull request 3406, which was closed unmerged. Without it `test/phantom-webrtc.test.ts` fails.
 */
import type { MultiaddrConnection } from '@libp2p/interface'
import { transportOf } from '../addresses/address-rules.ts'

/** True for a WebRTC connection whose two ends are not connected. */
export function isPhantomWebRtc(raw: MultiaddrConnection): boolean {
  if (transportOf(raw.remoteAddr) !== 'webrtc' || !('peerConnection' in raw)) return false
  const { peerConnection } = raw as { readonly peerConnection?: { readonly connectionState?: string } }
  return peerConnection?.connectionState !== 'connected'
}
