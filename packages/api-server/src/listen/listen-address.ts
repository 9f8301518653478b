/** Where to listen, as people write it: `127.0.0.1:8080`, `:8080`, `[::1]:8080`, `unix://PATH`. */
import { MeshError } from '@mesh/core'

export type ListenErrorCode =
  | 'api.bad_listen_address'
  | 'api.port_in_use'
  | 'api.port_privileged'
  | 'api.address_unavailable'
  | 'api.folder_missing'
  | 'api.socket_in_use'
  | 'api.not_a_socket'
  | 'api.no_permission'
  | 'api.inherited_unusable'

export type ListenAddress =
  /** `host` undefined: all addresses. Port 0: any free one. */
  | { readonly kind: 'tcp'; readonly host: string | undefined; readonly port: number }
  | {
      readonly kind: 'unix'
      readonly path: string
      /** Permission bits of the socket's file, 0o660 unless given. */
      readonly mode?: number
      /** The node's own socket for commands of its owner: no token is asked for, and writes are taken. */
      readonly isControl?: true
    }
  /** A listening socket that the init system passed in, TCP or unix; its file is left alone. */
  | { readonly kind: 'inherited'; readonly descriptor: number }

const UNIX_SCHEME = 'unix://'

export const LISTEN_FORMS = 'HOST:PORT, :PORT, [IPv6]:PORT or unix://PATH'

/** @throws MeshError `api.bad_listen_address` */
export function parseListenAddress(text: string): ListenAddress {
  if (text.startsWith(UNIX_SCHEME) && text.length > UNIX_SCHEME.length && !text.includes('\0')) {
    return { kind: 'unix', path: text.slice(UNIX_SCHEME.length) }
  }
  const match = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([^\s:/[\]]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) {
    const issues = [{ field: 'listen', value: text, expected: LISTEN_FORMS }]
    const message = `cannot listen on ${JSON.stringify(text)}`
    throw new MeshError('api.bad_listen_address', message, { hint: `Give ${LISTEN_FORMS}.`, issues })
  }
  const host = match[1] ?? match[2]
  return { kind: 'tcp', host: host === '' ? undefined : host, port }
}

/** Prints an address in the form in which people write it. */
export function formatListenAddress(address: ListenAddress): string {
  switch (address.kind) {
    case 'tcp':
      return `${address.host?.includes(':') === true ? `[${address.host}]` : (address.host ?? '')}:${address.port}`
    case 'unix':
      return UNIX_SCHEME + address.path
    case 'inherited':
      return `descriptor ${address.descriptor}`
  }
}
