/** A transport of libp2p over TCP. After @libp2p/tcp 11.0.28, Apache-2.0 OR MIT, Copyright Protocol Labs and contributors. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Transport } from '@libp2p/interface'
import { getNetConfig } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'
import { TCP } from '@multiformats/multiaddr-matcher'
import { remoteAddressOf } from './socket-address.ts'
import { type Door, SocketListener } from './socket-listener.ts'
import { createSocketTransport, type TransportComponents } from './socket-transport.ts'
import type { Sockets } from './sockets.ts'
import { TcpConnection } from './tcp-connection.ts'

interface TcpInit {
  readonly sockets: Sockets
  /** Lets another protocol use the ports of the listeners. */
  readonly door?: Door
}

export function tcp({ sockets, door }: TcpInit): (components: TransportComponents) => Transport {
  return ({ logger }) => {
    const log = logger.forComponent('tcp')
    const { budget } = sockets
    const matches = (address: Multiaddr) => TCP.exactMatch(address)
    return createSocketTransport({
      name: 'tcp',
      canListen: matches,
      canDial: matches,
      async connect(remoteAddr, signal) {
        const socket = await open(sockets, remoteAddr, signal)
        return new TcpConnection({ socket, budget, direction: 'outbound', remoteAddr, log })
      },
      createListener: (upgrader) =>
        new SocketListener({
          sockets,
          door,
          upgrader,
          connect(socket) {
            const remoteAddr = remoteAddressOf(socket)
            return new TcpConnection({ socket, budget, direction: 'inbound', remoteAddr, log })
          },
        }),
    })
  }
}

async function open(sockets: Sockets, address: Multiaddr, signal: AbortSignal): Promise<Socket> {
  const { host, port = 0 } = getNetConfig(address)
  const socket = sockets.connecting(connect({ host, port, noDelay: true, keepAlive: true }))
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}
