/**
 * The UDP target of a service. A name such as `localhost` may have several addresses.
 *
 * 1. Datagrams go to the first address.
 * 2. If it reports that nobody listens, recent datagrams go to the next address.
 * 3. The address that takes them stays in use.
 */
import type { Socket as UdpSocket } from 'node:dgram'
import { type Clock, toError } from '@mesh/core'
import { REFUSAL_WAIT_MS } from '../limits.ts'
import { connectUdp, sendDatagram, type UdpAddress } from './udp-socket.ts'
import { WaitingDatagrams } from './waiting-datagrams.ts'

export interface UdpTargetInit {
  readonly onDatagram: (datagram: Uint8Array) => void
  /** No address takes what was sent, as ICMP says. The session goes on, as UDP does. */
  readonly onError: (error: Error) => void
  readonly clock: Clock
}

/**
 * @param addresses of the target's name, the preferred one first
 * @throws MeshError `services.target_down` when no address can be sent to
 */
export async function openUdpTarget(
  addresses: readonly UdpAddress[],
  init: UdpTargetInit,
): Promise<UdpTarget> {
  const target = new UdpTarget(addresses, init)
  await target.connect()
  return target
}

/** A target that datagrams can be sent to until it is closed. */
export class UdpTarget {
  /** The one in use first. */
  readonly #addresses: UdpAddress[]
  readonly #init: UdpTargetInit
  readonly #recent = new WaitingDatagrams()
  #socket: UdpSocket | undefined
  #connectedAt = 0
  #isClosed = false
  #isConnecting = false
  /** How many addresses refused since the last datagram of the client. */
  #refusals = 0

  constructor(addresses: readonly UdpAddress[], init: UdpTargetInit) {
    this.#addresses = [...addresses]
    this.#init = init
  }

  /** Connects to the address in use, or to the first one after it that the system has a route to. */
  async connect(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const [address] = this.#addresses
      if (address === undefined) return
      try {
        return this.#use(await connectUdp(address))
      } catch (error) {
        if (tries >= this.#addresses.length) throw error
        this.#moveOn()
      }
    }
  }

  /** Drops the datagram when the kernel does not keep up. */
  send(datagram: Uint8Array): void {
    this.#refusals = 0
    const socket = this.#socket
    if (socket !== undefined && !this.#mayBeRefused()) return sendDatagram(socket, datagram)
    this.#recent.add(datagram)
    if (socket === undefined) void this.#goOn()
    else this.#try(socket, datagram)
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.close()
    this.#socket = undefined
  }

  #use(socket: UdpSocket): void {
    if (this.#isClosed) return void socket.close()
    this.#socket = socket
    this.#connectedAt = this.#init.clock.monotonic()
    socket.on('message', (datagram) => this.#init.onDatagram(datagram))
    socket.on('error', (error) => this.#refused(socket, error))
  }

  #refused(socket: UdpSocket, error: Error): void {
    if (socket !== this.#socket) return
    this.#refusals++
    const isLast = this.#refusals >= this.#addresses.length
    if (isLast) this.#init.onError(error)
    if (this.#addresses.length === 1) return
    if (isLast || !this.#mayBeRefused()) this.#recent.take()
    this.#socket = undefined
    socket.close()
    this.#moveOn()
    if (!isLast) void this.#goOn()
  }

  /** Connects to the next address and sends it what the last one refused. */
  async #goOn(): Promise<void> {
    if (this.#isConnecting || this.#isClosed) return
    this.#isConnecting = true
    try {
      await this.connect()
    } catch (error) {
      this.#init.onError(toError(error))
    }
    this.#isConnecting = false
    for (const datagram of this.#recent.take()) {
      if (this.#socket === undefined) return
      // this address may refuse it, too
      this.#recent.add(datagram)
      this.#try(this.#socket, datagram)
    }
  }

  /** The refusal of one datagram may only show when the next one is sent. */
  #try(socket: UdpSocket, datagram: Uint8Array): void {
    socket.send(datagram, (error) => {
      if (error !== null) this.#refused(socket, error)
    })
  }

  /** The answer that nobody listens at an address comes soon. */
  #mayBeRefused(): boolean {
    const usedMs = this.#init.clock.monotonic() - this.#connectedAt
    return this.#addresses.length > 1 && usedMs < REFUSAL_WAIT_MS
  }

  #moveOn(): void {
    this.#addresses.push(...this.#addresses.splice(0, 1))
  }
}
