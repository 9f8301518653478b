/**
 * Has what came by WebRTC read before its end. Version 0.33.4 of node-datachannel has a queue for each callback, all
 * emptied once in a turn of the event loop, in the order in which the callbacks were set. Its polyfill sets those of ends
 * first, and with an end the other queues are dropped and never freed: whoever sent something and left while the node was
 * busy took that memory for good (5 MB a second under eight attacks at once), and the last messages of honest peers were lost.
 * Here ends come last, and this side closes when what had come by then was read. Of more than a thousand messages of a
 * channel in one turn those beyond are still lost, as one turn takes no more of a queue.
 * Report to send: 'thread-safe-callback.cpp: free data when env is null; set onClosed after onMessage'; the lost messages
 * are known as https://github.com/murat-dogan/node-datachannel/issues/375
 *
 * The library's classes cannot be handed to libp2p, and its native methods not be wrapped but on each object, which the
 * polyfill shows to one method alone: the one that checks a configuration. Without it `webrtc-ends.test.ts` fails.
 */
import { type DataChannel, PeerConnection } from 'node-datachannel'
import { RTCPeerConnection } from 'node-datachannel/polyfill'

/** A configuration of the polyfill's, which may bring the native connection with it. */
interface NativeConfiguration extends RTCConfiguration {
  readonly peerConnection?: PeerConnection
}

interface Checking {
  _checkConfiguration(config: NativeConfiguration): void
}

const ordered = new WeakSet<object>()
/** The connections and channels that close later. */
const closing = new Set<() => void>()
let wrapped = false

/** Orders the ends of all connections of this process that are made with a native connection. */
export function readBeforeEnds(): void {
  if (wrapped) return
  wrapped = true
  const prototype = RTCPeerConnection.prototype as unknown as Checking
  const check = prototype._checkConfiguration
  prototype._checkConfiguration = function (config) {
    check.call(this, config)
    const native = config.peerConnection
    if (native === undefined || ordered.has(native)) return
    ordered.add(native)
    orderConnection(native)
  }
}

/** Adds the native connection, without which the polyfill would make one that nobody sees. For one connection only. */
export function withNativeConnection(config: { readonly iceServers: readonly RTCIceServer[] }) {
  const iceServers = config.iceServers.flatMap(({ urls }) => urls)
  return {
    ...config,
    iceServers: [...config.iceServers],
    peerConnection: new PeerConnection('peer', { iceServers }),
  }
}

function orderConnection(native: PeerConnection): void {
  const setOnState = native.onStateChange.bind(native)
  const setOnChannel = native.onDataChannel.bind(native)
  const create = native.createDataChannel.bind(native)
  const close = native.close.bind(native)
  let onState: Parameters<typeof setOnState>[0] | undefined
  override(native, {
    onStateChange(tell) {
      onState = tell
    },
    onDataChannel(take) {
      setOnChannel((channel) => take(orderChannel(channel)))
      if (onState !== undefined) setOnState(onState)
    },
    createDataChannel: (...init) => orderChannel(create(...init)),
    close: () => closeLater(close),
  })
}

function orderChannel(channel: DataChannel): DataChannel {
  const setOnClosed = channel.onClosed.bind(channel)
  const setOnMessage = channel.onMessage.bind(channel)
  const close = channel.close.bind(channel)
  let onClosed: (() => void) | undefined
  override(channel, {
    onClosed(tell) {
      onClosed = tell
    },
    onMessage(take) {
      setOnMessage(take)
      if (onClosed !== undefined) setOnClosed(onClosed)
    },
    close: () => closeLater(close),
  })
  return channel
}

/** Closes when the event loop has emptied the queues once more. */
function closeLater(close: () => void): void {
  closing.add(close)
  setImmediate(() =>
    setImmediate(() => {
      if (closing.delete(close)) close()
    }),
  )
}

/** Closes at once what is to be closed: before the native library ends, which waits for whatever is open. */
export function closeNow(): void {
  for (const close of closing) close()
  closing.clear()
}

/** Native methods can be replaced on an object alone, and not by assigning them. */
function override<Native extends object>(native: Native, methods: Partial<Native>): void {
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(native, name, { value })
}
