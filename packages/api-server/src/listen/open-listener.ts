import type { RequestListener, Server } from 'node:http'
import { BlockList } from 'node:net'
import { type Clock, MeshError, type Random } from '@mesh/core'
import { LISTEN_BACKLOG, STOP_GRACE_MS } from '../limits.ts'
import { createHttpServer } from './http-server.ts'
import { formatListenAddress, type ListenAddress, type ListenErrorCode } from './listen-address.ts'
import { listenUnix } from './unix-socket.ts'

/** A place where the API answers. */
export interface ApiListener {
  readonly kind: 'tcp' | 'unix'
  /** For people and clients: `http://127.0.0.1:8080` or `unix://PATH`. */
  readonly url: string
  /** The port, 0 for a unix socket. */
  readonly port: number
  /** Reachable from other machines. */
  readonly isExposed: boolean
  /** Stops taking requests, gives those in flight a second, removes the socket's file if it is ours. Idempotent. */
  close(): Promise<void>
}

export interface ListenerComponents {
  readonly clock: Clock
  readonly random: Random
  /** The application for this kind of listener. */
  readonly appFor: (kind: 'tcp' | 'unix') => RequestListener
}

/** @throws MeshError with a ListenErrorCode, its message and hint fit to be shown */
export async function openListener(
  address: ListenAddress,
  components: ListenerComponents,
): Promise<ApiListener> {
  const { clock } = components
  // which kind an inherited socket is, is known only once it listens: so the application is found then
  let app: RequestListener | undefined
  const server = createHttpServer((req, res) => app?.(req, res), components)
  try {
    const removeFile = await listen(server, address, clock)
    const bound = server.address()
    const kind = typeof bound === 'object' && bound !== null ? 'tcp' : 'unix'
    app = components.appFor(kind)
    return listenerOf(server, address, removeFile, clock)
  } catch (error) {
    throw error instanceof MeshError ? error : explain(error, address)
  }
}

async function listen(server: Server, address: ListenAddress, clock: Clock): Promise<() => void> {
  if (address.kind === 'unix') return listenUnix(server, address, clock)
  const where =
    address.kind === 'inherited'
      ? { fd: address.descriptor }
      : {
          port: address.port,
          backlog: LISTEN_BACKLOG,
          ...(address.host !== undefined && { host: address.host }),
        }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return () => {}
}

function listenerOf(server: Server, asked: ListenAddress, removeFile: () => void, clock: Clock): ApiListener {
  const bound = server.address()
  let closing: Promise<void> | undefined
  const close = () =>
    new Promise<void>((resolve) => {
      removeFile()
      const cancel = clock.after(STOP_GRACE_MS, () => server.closeAllConnections())
      server.close(() => {
        cancel()
        resolve()
      })
      server.closeIdleConnections()
    })
  const common = { close: () => (closing ??= close()) }
  if (typeof bound === 'object' && bound !== null) {
    const { address, port, family } = bound
    const host = family === 'IPv6' ? `[${address}]` : address
    return {
      kind: 'tcp',
      url: `http://${host}:${port}`,
      port,
      isExposed: !LOOPBACK.check(address, kindOf(family)),
      ...common,
    }
  }
  const path = asked.kind === 'unix' ? asked.path : String(bound)
  return { kind: 'unix', url: `unix://${path}`, port: 0, isExposed: false, ...common }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')
const kindOf = (family: string) => (family === 'IPv6' ? 'ipv6' : 'ipv4')

/** System errors in words, with what to do. */
function explain(error: unknown, address: ListenAddress): MeshError<ListenErrorCode> {
  const where = formatListenAddress(address)
  const systemCode = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known = address.kind === 'inherited' ? undefined : EXPLANATIONS.get(systemCode)
  if (known !== undefined && (known.kind ?? address.kind) === address.kind) {
    const { code, text, hint } = known
    return new MeshError<ListenErrorCode>(code, `cannot listen on ${where}: ${text}`, { hint, cause: error })
  }
  const reason = error instanceof Error ? error.message : String(error)
  const code = address.kind === 'inherited' ? 'api.inherited_unusable' : 'api.address_unavailable'
  return new MeshError<ListenErrorCode>(code, `cannot listen on ${where}: ${reason}`, {
    hint: 'Listen elsewhere: HOST:PORT, :PORT, [IPv6]:PORT or unix://PATH.',
    cause: error,
  })
}

interface Explanation {
  readonly code: ListenErrorCode
  readonly kind?: ListenAddress['kind']
  readonly text: string
  readonly hint: string
}

const EXPLANATIONS = new Map<string, Explanation>([
  [
    'EADDRINUSE',
    {
      code: 'api.port_in_use',
      kind: 'tcp',
      text: 'the port is in use',
      hint: 'Stop the other program, or give another port.',
    },
  ],
  [
    'EACCES',
    {
      code: 'api.port_privileged',
      kind: 'tcp',
      text: 'this user may not use that port',
      hint: 'Give a port above 1023, or start with the right to bind privileged ports.',
    },
  ],
  [
    'ENOENT',
    {
      code: 'api.folder_missing',
      kind: 'unix',
      text: 'the folder does not exist',
      hint: 'Make the folder first, or listen elsewhere.',
    },
  ],
])
