import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import net from 'node:net'
import { type Clock, isLoopback, MeshError, type Random, toError } from '@mesh/core'
import { LISTEN_BACKLOG, STOP_GRACE_MS } from '../limits.ts'
import { createHttpServer } from './http-server.ts'
import {
  formatListenAddress,
  LISTEN_FORMS,
  type ListenAddress,
  type ListenErrorCode,
} from './listen-address.ts'
import { listenUnix } from './unix-socket.ts'

/** A place where the API answers. */
export interface ApiListener {
  readonly kind: 'tcp' | 'unix'
  /**
   * The address for people and clients: `http://127.0.0.1:8080` or `unix://PATH`; `descriptor 3` for an
   * inherited unix socket.
   */
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
  // which kind an inherited socket is, is known only once it listens; and a start need not wait for the making of
  // an application that nobody asked yet
  let app: RequestListener | undefined
  const appOnce = () => (app ??= components.appFor(typeof server.address() === 'object' ? 'tcp' : 'unix'))
  const server = createHttpServer((req, res) => appOnce()(req, res), components)
  try {
    if (address.kind === 'unix')
      return listenerOf(server, address, clock, await listenUnix(server, address, clock))
    server.listen(placeOf(address), LISTEN_BACKLOG)
    await once(server, 'listening')
    return listenerOf(server, address, clock)
  } catch (error) {
    throw error instanceof MeshError ? error : explain(error, address)
  }
}

function placeOf(address: Exclude<ListenAddress, { readonly kind: 'unix' }>): unknown {
  if (address.kind === 'inherited') return { fd: address.descriptor }
  const { host, port } = address
  if (host === undefined) return { port }
  // Node 26: what is no name is not resolved, which is 5 ms of a start
  const { BoundSocket } = net as { readonly BoundSocket?: typeof net.BoundSocket }
  return BoundSocket === undefined || net.isIP(host) === 0 ? { host, port } : new BoundSocket({ host, port })
}

function listenerOf(
  server: Server,
  asked: ListenAddress,
  clock: Clock,
  removeFile?: () => void,
): ApiListener {
  const bound = server.address()
  let closing: Promise<void> | undefined
  const close = () =>
    new Promise<void>((resolve) => {
      removeFile?.()
      const cancel = clock.after(STOP_GRACE_MS, () => server.closeAllConnections())
      server.close(() => {
        cancel()
        resolve()
      })
      server.closeIdleConnections()
    })
  const listener = { close: () => (closing ??= close()) }
  // of an inherited unix socket Node does not tell the path
  if (typeof bound !== 'object' || bound === null)
    return { ...listener, kind: 'unix', url: formatListenAddress(asked), port: 0, isExposed: false }
  const { address, port, family } = bound
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  return { ...listener, kind: 'tcp', url, port, isExposed: !isLoopback(address) }
}

/** System errors in words, with what to do. */
function explain(error: unknown, address: ListenAddress): MeshError<ListenErrorCode> {
  const { code: systemCode = '', message } = toError(error) as NodeJS.ErrnoException
  const other = address.kind === 'inherited' ? 'api.inherited_unusable' : 'api.address_unavailable'
  const step = SPENT[systemCode] ?? `Listen elsewhere: ${LISTEN_FORMS}.`
  const [code, reason, hint] = EXPLANATIONS[`${address.kind} ${systemCode}`] ?? [other, message, step]
  const sentence = `cannot listen on ${formatListenAddress(address)}: ${reason}`
  return new MeshError(code, sentence, { hint, cause: error })
}

/** The next step for what the machine has no more of, wherever a node listens. */
const SPENT: Readonly<Record<string, string>> = {
  EMFILE: 'Let more files be open: `ulimit -n 1024`, or LimitNOFILE= in a unit of systemd.',
  ENOSPC: 'The disk has no space, or no inodes, left (df -h, df -i).',
  EROFS: 'The disk is read-only: give a folder that can be written.',
}

/** Code, sentence and hint for failures to listen, by kind of address and the system's code. */
const EXPLANATIONS: Readonly<Record<string, readonly [ListenErrorCode, string, string]>> = {
  'tcp EADDRINUSE': [
    'api.port_in_use',
    'the port is in use',
    'Stop the other program, or give another port.',
  ],
  'tcp EACCES': [
    'api.port_privileged',
    'this user may not use that port',
    'Give a port above 1023, or start with the right to bind privileged ports.',
  ],
  'unix EACCES': [
    'api.no_permission',
    'this user may not write to the folder',
    'Give a path in a folder of this user.',
  ],
}
