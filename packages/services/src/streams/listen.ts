/** Listening sockets of the system. */
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { toError } from '@mesh/core'
import { servicesError } from '../errors.ts'

/** Its owner and group may connect. */
const SOCKET_MODE = 0o660

export interface Listener {
  /** The port, and the one that was taken for 0. */
  readonly port: number | undefined
  /** Closes it; open connections stay. A unix socket's file is removed. */
  close(): void
}

/**
 * Listens for connections, which come paused, with directions that end apart. A dead unix socket in the way is removed;
 * a live one, or a file that is no socket, never.
 * @throws MeshError `services.cannot_listen`
 */
export async function listenFor(
  address: { readonly host: string; readonly port: number } | { readonly path: string },
  onConnection: (socket: Socket) => void,
): Promise<Listener> {
  try {
    return await open(address, onConnection)
  } catch (error) {
    if ('path' in address && codeOf(error) === 'EADDRINUSE' && (await isDeadSocket(address.path))) {
      rmSync(address.path)
      return await open(address, onConnection).catch((again: unknown) => {
        throw cannotListen(address, again)
      })
    }
    throw cannotListen(address, error)
  }
}

async function open(
  address: { readonly host: string; readonly port: number } | { readonly path: string },
  onConnection: (socket: Socket) => void,
): Promise<Listener> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, onConnection)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...address, exclusive: true }, resolve)
  })
  server.removeAllListeners('error')
  // a connection that could not be accepted, as without free descriptors, is the client's to try again
  server.on('error', () => {})
  if ('path' in address) chmodSync(address.path, SOCKET_MODE)
  return { port: portOf(server), close: () => void server.close() }
}

function portOf(server: Server): number | undefined {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : undefined
}

function isDeadSocket(path: string): Promise<boolean> {
  if (!lstatSync(path).isSocket()) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED'))
  })
}

const HINTS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['EADDRINUSE', ['somebody listens there already', 'Give another port, or stop that program.']],
  ['EACCES', ['this user may not listen there', 'Ports below 1024 need privileges; give a higher one.']],
  [
    'EADDRNOTAVAIL',
    ['this machine has no such address', 'Listen on 127.0.0.1, or on an address of this machine.'],
  ],
  ['ENOENT', ['the folder does not exist', 'Make the folder of the socket first.']],
])

function cannotListen(
  address: { readonly host: string; readonly port: number } | { readonly path: string },
  error: unknown,
): Error {
  const place = 'path' in address ? address.path : `${address.host}:${address.port}`
  const [words = toError(error).message, hint] = HINTS.get(codeOf(error) ?? '') ?? []
  return servicesError('services.cannot_listen', `cannot listen on ${place}: ${words}`, {
    cause: error,
    ...(hint !== undefined && { hint }),
  })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
