/** Where a service is, and where a connected one listens: `tcp`, `udp` and unix sockets, from text. */
import { tryParseIp } from '@mesh/core'
import { servicesError } from '../errors.ts'

/** `stream`: bytes, as of TCP and unix sockets. `datagram`: each with its length ahead, as of UDP. */
export type ServiceKind = 'stream' | 'datagram'

export type Endpoint =
  | { readonly type: 'tcp' | 'udp'; readonly host: string; readonly port: number }
  | { readonly type: 'unix'; readonly path: string }

/** The length in bytes that a socket's address may have on Linux, with its end. */
const MAX_PATH_BYTES = 107

/**
 * Reads `127.0.0.1:22`, `db.local:5432`, `[::1]:22`, `:22` (this machine), each also with `tcp:` ahead;
 * `udp:HOST:PORT`; `unix:PATH`.
 * @param isListener port 0 takes a free one
 * @throws MeshError `services.bad_address`
 */
export function parseEndpoint(text: string, { isListener = false } = {}): Endpoint {
  const [, scheme = 'tcp', rest = ''] = /^(?:(tcp|udp|unix):(?:\/\/(?=.))?)?(.*)$/s.exec(text) ?? []
  if (scheme === 'unix') {
    if (rest === '' || rest.includes('\0') || Buffer.byteLength(rest) > MAX_PATH_BYTES) throw badAddress(text)
    return { type: 'unix', path: rest }
  }
  const [, inBrackets, bare = '', digits = ''] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(rest) ?? []
  const port = Number(digits)
  const isPort = digits !== '' && port < 65_536 && (port > 0 || isListener)
  const host = inBrackets ?? (bare === '' ? '127.0.0.1' : bare)
  const isHost = inBrackets === undefined ? isHostName(host) : tryParseIp(inBrackets)?.includes(':')
  if (!isPort || isHost !== true) throw badAddress(text)
  return { type: scheme === 'udp' ? 'udp' : 'tcp', host, port }
}

export function formatEndpoint(endpoint: Endpoint): string {
  if (endpoint.type === 'unix') return `unix:${endpoint.path}`
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host
  return `${endpoint.type === 'udp' ? 'udp:' : ''}${host}:${endpoint.port}`
}

/** How a service with this target is carried. */
export function kindOf({ type }: Endpoint): ServiceKind {
  return type === 'udp' ? 'datagram' : 'stream'
}

/** Gives the options by which Node connects to an endpoint, or listens on it. */
export function socketAddressOf(endpoint: Endpoint): { host: string; port: number } | { path: string } {
  return endpoint.type === 'unix' ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port }
}

function isHostName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?$/i.test(text)
}

function badAddress(text: string): Error {
  return servicesError('services.bad_address', `"${text}" is no address of a service`, {
    hint: 'Write HOST:PORT, :PORT for this machine, udp:HOST:PORT or unix:PATH.',
    issues: [
      {
        field: 'address',
        value: text,
        expected: 'HOST:PORT, :PORT for this machine, udp:HOST:PORT or unix:PATH',
      },
    ],
  })
}
