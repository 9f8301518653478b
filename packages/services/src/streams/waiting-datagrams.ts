import { MAX_WAITING_DATAGRAM_BYTES, MAX_WAITING_DATAGRAMS } from '../limits.ts'

/** Datagrams that wait to be sent, within bounds: drops what is over them, as UDP does. */
export class WaitingDatagrams {
  #waiting: Uint8Array[] = []
  #bytes = 0

  add(datagram: Uint8Array): void {
    const bytes = this.#bytes + datagram.byteLength
    if (this.#waiting.length >= MAX_WAITING_DATAGRAMS || bytes > MAX_WAITING_DATAGRAM_BYTES) return
    this.#waiting.push(datagram)
    this.#bytes = bytes
  }

  /** Gives all of them, in the order in which they came, and keeps none. */
  take(): readonly Uint8Array[] {
    const taken = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    return taken
  }
}
