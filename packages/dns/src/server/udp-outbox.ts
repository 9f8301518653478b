import type { Socket } from 'node:dgram'
import { endOfTurn } from '@mesh/core/limits'

interface Waiting {
  readonly answer: Uint8Array
  readonly port: number
  readonly address: string
}

export function createUdpOutbox(socket: Pick<Socket, 'send'>) {
  let waiting: Waiting[] = []
  let isStopped = false
  const flush = () => {
    const answers = waiting
    waiting = []
    if (isStopped) return
    for (const { answer, port, address } of answers) socket.send(answer, 0, answer.length, port, address)
  }
  return {
    send(answer: Uint8Array, port: number, address: string) {
      if (!isStopped && waiting.push({ answer, port, address }) === 1) endOfTurn(flush)
    },
    /** Drops what still waits, and what comes later. Call it before the socket is closed. */
    stop() {
      isStopped = true
      waiting = []
    },
  }
}

/**
 * Sends the answers of one turn of the event loop together: a client that waits for several is woken once for many of
 * them (`npm run bench -- dns`).
 */
export type UdpOutbox = ReturnType<typeof createUdpOutbox>
