/**
 * Questions over TCP: messages with their length in front, many in one connection, answered as they get ready. A
 * client that does not read, sends too much at once or nothing for a while costs a bounded amount.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressListener, Clock } from '@mesh/core'
import { type Lane, type LoopBudget, loopBudget, type Scope } from '@mesh/core/limits'
import { MAX_TCP_PIPELINED, MAX_TCP_UNREAD_BYTES, TCP_IDLE_MS } from '../limits.ts'
import { readQuery } from '../messages/read-query.ts'
import { type Client, laneOf } from './clients.ts'
import type { Outcome, Responder } from './responder.ts'
import type { UdpServerInit } from './udp-server.ts'

export interface TcpServerComponents {
  readonly responder: Pick<Responder, 'respond'>
  readonly clientOf: (address: string) => Client
  readonly clock: Clock
  readonly count: (outcome: Outcome) => void
  /** Shared by all listeners of a server. */
  readonly connections: Scope
}

/** Rejects with the system's error when the address cannot be had. */
export function openTcpServer(
  { host, port }: UdpServerInit,
  components: TcpServerComponents,
): Promise<AddressListener> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const client = components.clientOf(socket.remoteAddress ?? '')
    const refuse = () => {
      components.count('limited')
      socket.destroy()
    }
    const place = components.connections.reserve({ address: client.rated ?? '', end: refuse })
    if (place === undefined) return refuse()
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      place.release()
    })
    new Connection(socket, client, components).start()
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, ipv6Only: host.includes(':') }, () => {
      server.off('error', reject)
      // connections that could not be taken, as with no descriptor left
      server.on('error', () => {})
      resolve({ port: portOf(server), stop: () => close(server, sockets) })
    })
  })
}

class Connection {
  readonly #socket: Socket
  readonly #client: Client
  readonly #components: TcpServerComponents
  readonly #budget: LoopBudget
  readonly #lane: Lane
  #received: Buffer = Buffer.alloc(0)
  #answering = 0
  #hasEnded = false
  /** There was no time left: it reads on in a later turn. */
  #isWaiting = false
  #cancelIdle = () => {}

  constructor(socket: Socket, client: Client, components: TcpServerComponents) {
    this.#socket = socket
    this.#client = client
    this.#components = components
    this.#budget = loopBudget(components.clock)
    this.#lane = laneOf(client)
  }

  start(): void {
    const socket = this.#socket
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#cancelIdle())
    socket.on('data', (bytes: Buffer) => {
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
      this.#readOn()
    })
    socket.on('drain', () => this.#readOn())
    socket.on('end', () => {
      this.#hasEnded = true
      this.#endWhenDone()
    })
    this.#waitIdle()
  }

  #readOn(): void {
    const socket = this.#socket
    while (!this.#isFull()) {
      if (!this.#budget.isTimeLeft(this.#lane)) return this.#readLater()
      const length = this.#received.length < 2 ? -1 : this.#received.readUInt16BE(0)
      if (length === -1 || this.#received.length < length + 2) break
      const packet = this.#received.subarray(2, length + 2)
      this.#received = this.#received.subarray(length + 2)
      this.#respond(packet)
      if (socket.destroyed) return
    }
    // what is received stays below one message and what one read brings
    if (this.#isFull()) socket.pause()
    else socket.resume()
    this.#endWhenDone()
  }

  #readLater(): void {
    this.#socket.pause()
    if (this.#isWaiting) return
    this.#isWaiting = true
    const readOn = () => {
      this.#isWaiting = false
      if (!this.#socket.destroyed) this.#readOn()
    }
    this.#budget.later(this.#lane, readOn, this.#client.rated)
  }

  #isFull(): boolean {
    return this.#answering >= MAX_TCP_PIPELINED || this.#socket.writableLength > MAX_TCP_UNREAD_BYTES
  }

  #respond(packet: Buffer): void {
    // a message that is not to be answered would be counted as under way for ever
    if (readQuery(packet) === undefined) {
      this.#components.count('ignored')
      this.#socket.destroy()
      return
    }
    this.#answering++
    this.#waitIdle()
    let isLater = false
    const reply = (answer: Buffer) => {
      this.#answering--
      this.#write(answer)
      if (isLater) this.#readOn()
    }
    this.#components.responder.respond({ packet, client: this.#client, overTcp: true, reply })
    isLater = true
  }

  #write(answer: Buffer): void {
    if (this.#socket.destroyed) return
    const framed = Buffer.allocUnsafe(answer.length + 2)
    framed.writeUInt16BE(answer.length, 0)
    answer.copy(framed, 2)
    this.#socket.write(framed)
    this.#waitIdle()
  }

  #endWhenDone(): void {
    if (this.#hasEnded && !this.#isWaiting && this.#answering === 0 && !this.#isFull()) this.#socket.end()
  }

  /**
   * Ends the connection once nothing happened on it for a while; so it ends also for a client that never
   * reads its answers, or takes for ever over one question.
   */
  #waitIdle(): void {
    this.#cancelIdle()
    this.#cancelIdle = this.#components.clock.after(TCP_IDLE_MS, () => this.#socket.destroy())
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    for (const socket of sockets) socket.destroy()
  })
}
