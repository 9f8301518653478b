/** A connection over a WebSocket of `ws`. After @libp2p/websockets 10.1.21, Apache-2.0 OR MIT, Copyright Protocol Labs and contributors. */
import {
  AbstractMultiaddrConnection,
  type AbstractMultiaddrConnectionInit,
  type SendResult,
} from '@libp2p/utils'
import type { Clock } from '@mesh/core'
import type { LoopBudget } from '@mesh/core/limits'
import type { Uint8ArrayList } from 'uint8arraylist'
import type { WebSocket } from 'ws'
import { addressGroupOf } from '../addresses/address-group.ts'
import { WEBSOCKET_CLOSE_MS, WEBSOCKET_HIGH_WATER_BYTES, WEBSOCKET_LOW_WATER_BYTES } from './limits.ts'
import { PacedReads } from './paced-reads.ts'

export interface WebSocketConnectionInit extends AbstractMultiaddrConnectionInit {
  /** Is open, and gives messages as `Buffer`. */
  readonly websocket: WebSocket
  readonly budget: LoopBudget
  readonly clock: Clock
}

/** The code of a WebSocket that closed without saying so. */
const ABNORMAL = 1006

export class WebSocketConnection extends AbstractMultiaddrConnection {
  readonly #websocket: WebSocket
  readonly #clock: Clock
  readonly #reads: PacedReads

  constructor({ websocket, budget, clock, ...init }: WebSocketConnectionInit) {
    super(init)
    this.#websocket = websocket
    this.#clock = clock
    this.#reads = new PacedReads({
      budget,
      key: addressGroupOf(this),
      source: websocket,
      onBytes: (bytes) => this.onData(bytes),
    })
    websocket.on('message', (message) => this.#reads.take(message as Buffer))
    websocket.once('close', (code) => {
      this.#reads.end()
      if (code !== ABNORMAL) this.onTransportClosed()
      else if (this.status === 'open' || this.status === 'closing') this.onRemoteReset()
    })
  }

  sendData(data: Uint8ArrayList): SendResult {
    // one frame for all: the encryption sends each message in two pieces
    this.#websocket.send(data.subarray(), () => this.#sent())
    const canSendMore = this.#websocket.bufferedAmount < WEBSOCKET_HIGH_WATER_BYTES
    return { sentBytes: data.byteLength, canSendMore }
  }

  async sendClose(): Promise<void> {
    this.#websocket.close()
    const cancel = this.#clock.after(WEBSOCKET_CLOSE_MS, () => this.#websocket.terminate())
    this.#websocket.once('close', cancel)
  }

  sendReset(): void {
    this.#websocket.terminate()
  }

  sendPause(): void {
    this.#reads.pause()
  }

  sendResume(): void {
    this.#reads.resume()
  }

  #sent(): void {
    const isEmpty = this.#websocket.bufferedAmount < WEBSOCKET_LOW_WATER_BYTES
    if (this.writableNeedsDrain && isEmpty) this.safeDispatchEvent('drain')
  }
}
