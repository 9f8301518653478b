/** Answers STUN for members behind NATs, so that WebRTC needs no other servers; so many times a second. */
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { type Clock, type Logger } from '@mesh/core'
import { createTokenBucket } from '@mesh/core/limits'
import { multiaddr } from '@multiformats/multiaddr'
import { MAX_STUN_PER_SECOND } from './limits.ts'
import { answerStun } from './stun-message.ts'

interface StunServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * @param address IP to listen on; `0.0.0.0` for all
 * @throws when the address cannot be bound
 */
export async function openStunServer(
  { address }: { readonly address: string },
  components: { readonly clock: Clock; readonly logger: Logger },
): Promise<StunServer> {
  const { clock } = components
  const log = components.logger.child('stun')
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  const answers = createTokenBucket({ perSecond: MAX_STUN_PER_SECOND, burst: MAX_STUN_PER_SECOND }, clock)
  socket.on('message', (request, from) => {
    if (!answers.take()) return
    const answer = answerStun(request, { address: addressBytes(from.address), port: from.port })
    if (answer !== undefined) socket.send(answer, from.port, from.address)
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind({ address, port: 0 }, () => {
      socket.removeListener('error', reject)
      resolve()
    })
  })
  socket.on('error', (error) => log.debug('stun socket failed', { reason: String(error) }))
  socket.unref()
  const { port } = socket.address()
  return { port, close: () => new Promise((resolve) => socket.close(() => resolve())) }
}

function addressBytes(address: string): Uint8Array {
  const plain = address.split('%')[0] ?? address
  const family = isIPv6(plain) ? 'ip6' : 'ip4'
  // protocol code, then the address: codes of both families take one byte
  return multiaddr(`/${family}/${plain}`).bytes.subarray(1)
}
