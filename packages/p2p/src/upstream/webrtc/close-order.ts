/**
 * Has all messages read before the end of a channel or connection. node-datachannel has a queue for each callback, and empties
 * them in the order in which the callbacks were set. Here ends are set last, and this side closes when its queues are
 * empty.
 *
 * @library node-datachannel 0.33.4
 * @wraps `RTCPeerConnection.prototype._checkConfiguration`, methods of native connections and channels
 * @without Data is lost: an end drops the other queues, with the last messages of honest peers, and never frees their memory.
 * @shown `upstream/webrtc/close-order.test.ts`
 */
import { endOfTurn } from '@mesh/core/limits'
import { type DataChannel, PeerConnection } from 'node-datachannel'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { openInner } from '../inner-names.ts'

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

/** Orders the ends of all connections that come with a native one. @throws MeshError `p2p.incompatible_library` */
export function readBeforeEnds(): void {
  if (wrapped) return
  wrapped = true
  const names = ['_checkConfiguration'] as const
  const prototype = openInner<Checking>('node-datachannel 0.33.4', RTCPeerConnection.prototype, names)
  const check = prototype._checkConfiguration
  prototype._checkConfiguration = function (config) {
    check.call(this, config)
    const native = config.peerConnection
    if (native === undefined || ordered.has(native)) return
    ordered.add(native)
    orderConnection(native)
  }
}

/** Adds a native connection to the configuration of one connection; the polyfill would make one that nobody sees. */
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

/** Closes when the event loop has emptied the queues twice more. */
function closeLater(close: () => void): void {
  closing.add(close)
  endOfTurn(() =>
    endOfTurn(() => {
      if (closing.delete(close)) close()
    }),
  )
}

/** Closes at once what is about to close: the native library waits for open connections when it ends. */
export function closeNow(): void {
  for (const close of closing) close()
  closing.clear()
}

/** Native methods can be replaced on an object alone, and not by assigning them. */
function override<Native extends object>(native: Native, methods: Partial<Native>): void {
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(native, name, { value })
}
