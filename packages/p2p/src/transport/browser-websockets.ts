/** A transport of libp2p over the WebSockets of a browser. It dials, and cannot listen. */
import {
  AbstractMultiaddrConnection,
  type AbstractMultiaddrConnectionInit,
  type SendResult,
} from '@libp2p/utils'
import type { Transport } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { WebSockets as Ws, WebSocketsSecure as Wss } from '@multiformats/multiaddr-matcher'
import { multiaddrToUri } from '@multiformats/multiaddr-to-uri'
import type { Uint8ArrayList } from 'uint8arraylist'
import type { Clock } from '@mesh/core'
import {
  MAX_WEBSOCKET_MESSAGE_BYTES,
  WEBSOCKET_DRAIN_LOOK_MS,
  WEBSOCKET_HIGH_WATER_BYTES,
  WEBSOCKET_LOW_WATER_BYTES,
} from './limits.ts'
import { createSocketTransport, type TransportComponents } from './socket-transport.ts'

interface BrowserWebSocketsInit {
  /** Tells which addresses the page may connect to: a browser reports each other one as an error of the page. */
  readonly mayDial: (address: Multiaddr) => boolean
  readonly clock: Clock
}

export function browserWebSockets({
  mayDial,
  clock,
}: BrowserWebSocketsInit): (components: TransportComponents) => Transport {
  return ({ logger }) => {
    const log = logger.forComponent('websockets')
    return createSocketTransport({
      name: 'browser-websockets',
      canListen: () => false,
      canDial: (address) => (Ws.exactMatch(address) || Wss.exactMatch(address)) && mayDial(address),
      async connect(remoteAddr, signal) {
        const websocket = await open(multiaddrToUri(remoteAddr), signal)
        return new BrowserWebSocketConnection({ websocket, clock, direction: 'outbound', remoteAddr, log })
      },
      createListener() {
        throw new Error('a browser tab cannot listen')
      },
    })
  }
}

function open(url: string, signal: AbortSignal): Promise<WebSocket> {
  const websocket = new WebSocket(url)
  websocket.binaryType = 'arraybuffer'
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>()
  const onAbort = () => reject(signal.reason)
  websocket.onopen = () => resolve(websocket)
  // browsers do not tell pages why
  websocket.onclose = () => reject(new Error('the WebSocket could not be opened'))
  signal.addEventListener('abort', onAbort, { once: true })
  return promise
    .catch((error: unknown) => {
      websocket.close()
      throw error
    })
    .finally(() => {
      signal.removeEventListener('abort', onAbort)
      websocket.onopen = websocket.onclose = null
    })
}

interface BrowserWebSocketInit extends AbstractMultiaddrConnectionInit {
  /** Is open, and gives messages as `ArrayBuffer`. */
  readonly websocket: WebSocket
  readonly clock: Clock
}

class BrowserWebSocketConnection extends AbstractMultiaddrConnection {
  readonly #websocket: WebSocket
  readonly #clock: Clock
  #cancelLook: (() => void) | undefined

  constructor({ websocket, clock, ...init }: BrowserWebSocketInit) {
    super(init)
    this.#websocket = websocket
    this.#clock = clock
    websocket.onmessage = ({ data }: MessageEvent<unknown>) => this.#take(data)
    websocket.onclose = ({ wasClean }) => {
      this.#cancelLook?.()
      if (wasClean) this.onTransportClosed()
      else if (this.status === 'open' || this.status === 'closing') this.onRemoteReset()
    }
  }

  sendData(data: Uint8ArrayList): SendResult {
    this.#websocket.send(data.subarray() as Uint8Array<ArrayBuffer>)
    const canSendMore = this.#websocket.bufferedAmount < WEBSOCKET_HIGH_WATER_BYTES
    if (!canSendMore) this.#lookSoon()
    return { sentBytes: data.byteLength, canSendMore }
  }

  async sendClose(): Promise<void> {
    this.#websocket.close()
  }

  sendReset(): void {
    this.#websocket.close()
  }

  /** A browser goes on reading: what comes meanwhile waits within the bound of `AbstractMultiaddrConnection`. */
  sendPause(): void {}

  sendResume(): void {}

  #take(data: unknown): void {
    if (data instanceof ArrayBuffer && data.byteLength <= MAX_WEBSOCKET_MESSAGE_BYTES)
      this.onData(new Uint8Array(data))
    else this.abort(new Error('a message on the WebSocket is no bytes, or too long'))
  }

  /** A browser tells no event when the bytes have left. */
  #lookSoon(): void {
    this.#cancelLook ??= this.#clock.after(WEBSOCKET_DRAIN_LOOK_MS, () => {
      this.#cancelLook = undefined
      if (this.#websocket.bufferedAmount >= WEBSOCKET_LOW_WATER_BYTES) this.#lookSoon()
      else if (this.writableNeedsDrain) this.safeDispatchEvent('drain')
    })
  }
}
