/**
 * One question to one server, over UDP from a fresh socket, whose port the system draws and which hears this server
 * alone, or over TCP. Ends with the first acceptable answer.
 */
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import type { Clock, IpAddress } from '@mesh/core'

export interface ServerAddress {
  readonly address: IpAddress
  readonly port: number
}

interface ExchangeInit {
  readonly server: ServerAddress
  readonly packet: Buffer
  readonly withinMs: number
  /** Undefined: not an answer to this, wait for another. */
  readonly accept: (reply: Buffer) => boolean
}

/** Asks once. Rejects with an error that says why there is no answer. */
export type Exchange = (init: ExchangeInit, clock: Clock) => Promise<void>

export const exchangeOverUdp: Exchange = ({ server, packet, withinMs, accept }, clock) =>
  new Promise((resolve, reject) => {
    const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4')
    const cancel = clock.after(withinMs, () => end(new Error('no answer in time')))
    const end = (error?: Error) => {
      cancel()
      socket.removeAllListeners()
      // an answer that comes too late must not throw
      socket.on('error', () => {})
      socket.close()
      if (error === undefined) resolve()
      else reject(error)
    }
    socket.on('error', end)
    socket.on('message', (reply) => {
      if (accept(reply)) end()
    })
    socket.on('connect', () => socket.send(packet, (error) => error && end(error)))
    socket.connect(server.port, server.address)
  })

export const exchangeOverTcp: Exchange = ({ server, packet, withinMs, accept }, clock) =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port })
    const cancel = clock.after(withinMs, () => end(new Error('no answer in time over TCP')))
    let received = Buffer.alloc(0)
    const end = (error?: Error) => {
      cancel()
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    socket.on('error', end)
    socket.on('close', () => end(new Error('the connection ended without an answer')))
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      if (received.length < 2) return
      const length = received.readUInt16BE(0)
      if (received.length < length + 2) return
      end(accept(received.subarray(2, length + 2)) ? undefined : new Error('answered something else'))
    })
    socket.write(Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 0xff]), packet]))
  })
