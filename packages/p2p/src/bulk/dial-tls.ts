/** The connecting side of a TLS handshake with a pre-shared key. */
import { connect, type TLSSocket } from 'node:tls'
import type { Clock } from '@mesh/core'
import type { Sockets } from '../transport/sockets.ts'
import type { Offer } from './bulk-message.ts'
import { identityText } from './identities.ts'
import { HANDSHAKE_MS } from './limits.ts'
import type { TlsSettings } from './tls-settings.ts'

export interface DialTlsInit {
  readonly host: string
  readonly port: number
  readonly offer: Pick<Offer, 'identity' | 'key'>
  readonly settings: TlsSettings
  readonly sockets?: Pick<Sockets, 'connecting'>
  readonly clock: Clock
}

/** Resolves when the other side has proved the key. */
export function dialTls({ host, port, offer, settings, sockets, clock }: DialTlsInit): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      ...settings,
      pskCallback: () => ({ psk: offer.key, identity: identityText(offer.identity) }),
      // asked only where the other side did not prove the key
      checkServerIdentity: () => new Error('a certificate in place of the key'),
    })
    sockets?.connecting(socket)
    const fail = (error: Error) => {
      cancel()
      socket.destroy()
      reject(error)
    }
    const cancel = clock.after(HANDSHAKE_MS, () => fail(new Error('no answer in time')))
    const onClose = () => fail(new Error('the connection was closed'))
    socket.on('error', fail)
    socket.once('close', onClose)
    socket.once('secureConnect', () => {
      if (!socket.isSessionReused()) return fail(new Error('the other side did not prove the key'))
      cancel()
      socket.off('close', onClose)
      // whoever takes the socket listens for itself
      socket.on('error', () => {})
      socket.off('error', fail)
      resolve(socket)
    })
  })
}
