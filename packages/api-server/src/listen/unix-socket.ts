/**
 * The file of a unix socket. Only its owner can connect before its mode is set. It is put into place in one step that replaces nothing,
 * and removed only while it is ours.
 */
import { once } from 'node:events'
import { chmodSync, linkSync, lstatSync, type Stats, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { type Clock, MeshError } from '@mesh/core'
import { SOCKET_PROBE_TIMEOUT_MS } from '../limits.ts'
import type { ListenErrorCode } from './listen-address.ts'

const DEFAULT_SOCKET_MODE = 0o660
const OWNER_ONLY = 0o177

/**
 * Listens; resolves with what removes the file again.
 * @throws MeshError `api.socket_in_use`, `api.not_a_socket`, and what the system says as the error that it gave
 */
export async function listenUnix(
  server: Server,
  { path, mode = DEFAULT_SOCKET_MODE }: { readonly path: string; readonly mode?: number },
  clock: Clock,
): Promise<() => void> {
  // the system's own answer would be that we have no permission
  if (tryStat(dirname(path)) === undefined) {
    const message = `cannot listen on unix://${path}: the folder does not exist`
    throw problem('api.folder_missing', message, 'Make the folder first')
  }
  await clearDeadSocket(path, clock)
  // the system removes the name that a socket was bound to, even if another program has it by then: so ours gets its own
  const bound = `${path}.${process.pid}`
  removeIfSocket(bound)
  await bind(server, bound)
  try {
    chmodSync(bound, mode)
    linkSync(bound, path)
  } catch (error) {
    server.close()
    throw isSystemError(error, 'EEXIST') ? inUse(path) : error
  }
  const ours = lstatSync(bound)
  unlinkSync(bound)
  return () => {
    const found = tryStat(path)
    if (found !== undefined && found.ino === ours.ino && found.dev === ours.dev) unlinkSync(path)
  }
}

/** A live socket, or a file that is none, is never removed; a dead one is. */
async function clearDeadSocket(path: string, clock: Clock): Promise<void> {
  const found = tryStat(path)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw problem('api.not_a_socket', `${path} exists and is no socket`, 'Move the file away')
  }
  if (await isAnswering(path, clock)) throw inUse(path)
  removeIfSocket(path)
}

/** Anything but a refusal counts as life: what cannot be asked may be somebody's. */
async function isAnswering(path: string, clock: Clock): Promise<boolean> {
  const probe = connect(path)
  const cancel = clock.after(SOCKET_PROBE_TIMEOUT_MS, () => probe.destroy(new Error('silent')))
  try {
    await once(probe, 'connect')
    return true
  } catch (error) {
    return !isSystemError(error, 'ECONNREFUSED') && !isSystemError(error, 'ENOENT')
  } finally {
    cancel()
    probe.destroy()
  }
}

/** The file is made during the call of `listen`, under a mask that leaves it to its owner alone. */
async function bind(server: Server, path: string): Promise<void> {
  const before = process.umask(OWNER_ONLY)
  try {
    server.listen(path)
  } finally {
    process.umask(before)
  }
  await once(server, 'listening')
}

function removeIfSocket(path: string): void {
  if (tryStat(path)?.isSocket() === true) unlinkSync(path)
}

function tryStat(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function inUse(path: string): MeshError<ListenErrorCode> {
  return problem('api.socket_in_use', `something listens on unix://${path} already`, 'Stop the other program')
}

function problem(code: ListenErrorCode, message: string, firstStep: string): MeshError<ListenErrorCode> {
  return new MeshError(code, message, { hint: `${firstStep}, or listen elsewhere.` })
}

function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
