/** UDP sockets of the system. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { toError } from '@mesh/core'
import { type ServicesErrorCode, servicesError } from '../errors.ts'
import { MAX_TARGET_ADDRESSES, MAX_UDP_SEND_QUEUE_BYTES, UDP_BUFFER_BYTES } from '../limits.ts'
import { wordsOf } from './dial.ts'

export interface UdpAddress {
  readonly host: string
  readonly port: number
}

/**
 * Gives the addresses of a host, as the system orders them.
 * @param code of the error when there is none
 * @throws MeshError with that code
 */
export async function lookUpUdp(
  { host, port }: UdpAddress,
  code: ServicesErrorCode,
): Promise<readonly UdpAddress[]> {
  try {
    const found = await lookup(host, { all: true })
    return found.slice(0, MAX_TARGET_ADDRESSES).map(({ address }) => ({ host: address, port }))
  } catch (error) {
    throw servicesError(code, wordsOf(toError(error)), { cause: error })
  }
}

/**
 * A socket that sends to one IP address and hears from it alone; by ICMP it learns when nobody listens there.
 * @throws MeshError `services.target_down`
 */
export function connectUdp({ host, port }: UdpAddress): Promise<UdpSocket> {
  return open(host, 'services.target_down', (socket, ready) => socket.connect(port, host, ready))
}

/**
 * A socket at an IP address of this machine.
 * @throws MeshError `services.cannot_listen`
 */
export function bindUdp({ host, port }: UdpAddress): Promise<UdpSocket> {
  return open(host, 'services.cannot_listen', (socket, ready) => socket.bind(port, host, ready))
}

/** Drops the datagram when the kernel does not keep up. What goes wrong with one shows as the socket's 'error', if at all. */
export function sendDatagram(socket: UdpSocket, datagram: Uint8Array, to?: UdpAddress): void {
  if (socket.getSendQueueSize() > MAX_UDP_SEND_QUEUE_BYTES) return
  if (to === undefined) socket.send(datagram)
  else socket.send(datagram, to.port, to.host)
}

/** Asks the kernel to keep more of what comes while this process is busy; it may allow less. */
function growBuffer(socket: UdpSocket): void {
  try {
    socket.setRecvBufferSize(UDP_BUFFER_BYTES)
  } catch {
    // what it has by default works, too
  }
}

async function open(
  host: string,
  code: ServicesErrorCode,
  begin: (socket: UdpSocket, ready: () => void) => void,
): Promise<UdpSocket> {
  try {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    await new Promise<void>((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close()
        reject(error)
      })
      begin(socket, resolve)
    })
    socket.removeAllListeners('error')
    growBuffer(socket)
    return socket
  } catch (error) {
    throw servicesError(code, wordsOf(toError(error)), { cause: error })
  }
}
