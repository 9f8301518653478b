/**
 * One question to one server, over UDP from a fresh socket, whose port the system draws and which hears this server
 * alone, or over TCP. Ends with the first acceptable answer.
 */
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import type { Clock, IpAddress } from '@mesh/core'

export interface ServerAddress {
  readonly address: IpAddress
  /** The interface of a link-local address, as in `fe80::1%eth0`. */
  readonly scope?: string
  readonly port: number
}

/** The server's address as the system takes it, with its scope. */
export function hostOf({ address, scope }: Pick<ServerAddress, 'address' | 'scope'>): string {
  return scope === undefined ? address : `${address}%${scope}`
}

/** The server as people write it: `9.9.9.9:53`, `[fe80::1%eth0]:53`. */
export function whereOf(server: ServerAddress): string {
  const host = hostOf(server)
  return host.includes(':') ? `[${host}]:${server.port}` : `${host}:${server.port}`
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
    socket.connect(server.port, hostOf(server))
  })

export const exchangeOverTcp: Exchange = ({ server, packet, withinMs, accept }, clock) =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: hostOf(server), port: server.port })
    const cancel = clock.after(withinMs, () => end(new Error('no answer in time over TCP')))
    let pieces: Buffer[] = []
    let byteLength = 0
    /** The number of bytes with which there is something new to read. */
    let wanted = 2
    const end = (error?: Error) => {
      cancel()
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    socket.on('error', end)
    socket.on('close', () => end(new Error('the connection ended without an answer')))
    socket.on('data', (bytes: Buffer) => {
      pieces.push(bytes)
      byteLength += bytes.length
      // byte by byte a copy of all would be made for each
      if (byteLength < wanted) return
      const received = Buffer.concat(pieces)
      pieces = [received]
      wanted = received.readUInt16BE(0) + 2
      if (byteLength < wanted) return
      end(accept(received.subarray(2, wanted)) ? undefined : new Error('answered something else'))
    })
    socket.write(Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 0xff]), packet]))
  })
