import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** The address from which this machine would send to the other one now. @throws Error where there is no way */
export async function ownAddressTowards(host: string, signal: AbortSignal): Promise<string> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  try {
    // sends nothing: the kernel chooses the address
    socket.connect(9, host)
    await once(socket, 'connect', { signal })
    return socket.address().address
  } finally {
    socket.close()
  }
}
