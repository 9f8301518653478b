/**
 * Tells a WebRTC connection that never came about.
 *
 * @library @libp2p/webrtc 6.0.33
 * @wraps `peerConnection.connectionState` of raw connections
 * @without An honest member is cut off: the library takes the end of signalling for success, and the dialler gives a connection
 * through which nothing passes.
 * @shown `upstream/webrtc/connections.test.ts`, `test/phantom-webrtc.test.ts`
 */
import type { MultiaddrConnection } from '@libp2p/interface'
import { transportOf } from '../../addresses/address-rules.ts'

/** True for a WebRTC connection whose two ends are not connected. */
export function isPhantomWebRtc(raw: MultiaddrConnection): boolean {
  if (transportOf(raw.remoteAddr) !== 'webrtc') return false
  const { peerConnection } = raw as { readonly peerConnection?: { readonly connectionState?: string } }
  return peerConnection?.connectionState !== 'connected'
}
