/** A connection over a TCP socket. After @libp2p/tcp 11.0.28, Apache-2.0 OR MIT, Copyright Protocol Labs and contributors. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { AbortOptions } from '@libp2p/interface'
import {
  AbstractMultiaddrConnection,
  type AbstractMultiaddrConnectionInit,
  type SendResult,
} from '@libp2p/utils'
import { addressGroup } from '@mesh/core'
import type { LoopBudget } from '@mesh/core/limits'
import type { Uint8ArrayList } from 'uint8arraylist'
import { IDLE_SOCKET_MS } from './limits.ts'
import { PacedReads } from './paced-reads.ts'

export interface TcpConnectionInit extends AbstractMultiaddrConnectionInit {
  readonly socket: Socket
  readonly budget: LoopBudget
}

export class TcpConnection extends AbstractMultiaddrConnection {
  readonly socket: Socket
  readonly #reads: PacedReads
  #isCorked = false

  constructor({ socket, budget, ...init }: TcpConnectionInit) {
    super(init)
    this.socket = socket
    this.#reads = new PacedReads({
      budget,
      key: addressGroup(socket.remoteAddress ?? ''),
      source: socket,
      onBytes: (bytes) => this.onData(bytes),
    })
    const closed = () => {
      this.#reads.end()
      this.onTransportClosed()
    }
    socket.on('data', (bytes: Uint8Array) => this.#reads.take(bytes))
    socket.on('drain', () => this.safeDispatchEvent('drain'))
    socket.on('error', (error) => this.abort(error))
    socket.once('end', closed)
    socket.once('close', closed)
    socket.setTimeout(IDLE_SOCKET_MS, () => this.abort(new Error('the other side is silent')))
  }

  sendData(data: Uint8ArrayList): SendResult {
    this.#joinWrites()
    let sentBytes = 0
    for (const block of data) {
      sentBytes += block.byteLength
      if (!this.socket.write(block)) return { sentBytes, canSendMore: false }
    }
    return { sentBytes, canSendMore: true }
  }

  async sendClose(options?: AbortOptions): Promise<void> {
    if (this.socket.destroyed) return
    this.socket.destroySoon()
    await once(this.socket, 'close', options)
  }

  sendReset(): void {
    // a reset does not go with a half that is closing
    if (this.socket.writableEnded) this.socket.destroy()
    else this.socket.resetAndDestroy()
  }

  sendPause(): void {
    this.#reads.pause()
  }

  sendResume(): void {
    this.#reads.resume()
  }

  /** Sends all of one turn by one call to the system: the encryption sends each message in two pieces. */
  #joinWrites(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    this.socket.cork()
    process.nextTick(() => {
      this.#isCorked = false
      this.socket.uncork()
    })
  }
}
