/** Where things are kept: `STATE/NETWORK/INSTANCE/` with identity, ledger, lock, pid and control.sock. */
import { readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { MeshError } from '@mesh/core'
import { type InstanceLock, acquireInstanceLock } from './instance-lock.ts'
import { makeFolder } from '../files/make-folder.ts'
import { refuseSharedFolder } from '../files/refuse-shared-folder.ts'

export const CONTROL_SOCKET = 'control.sock'
/** An address of a unix socket holds 103 bytes on every system; the server binds to the path and its pid. */
const MAX_SOCKET_PATH_BYTES = 95

export interface InstanceFolder {
  readonly path: string
  readonly controlSocket: string
  /** False when the folder was removed or moved while this process has it. */
  isInPlace(): boolean
  /** Frees the instance for the next process; with `remove` the folder goes where it keeps nothing. Idempotent. */
  release(options?: { readonly remove: boolean }): void
}

export interface InstanceName {
  readonly stateDir: string
  readonly networkId: string
  readonly instance: string
}

export function instancePath({ stateDir, networkId, instance }: InstanceName): string {
  return join(stateDir, networkId, instance)
}

/** Makes the folder for this user alone, and locks it. @throws MeshError `node.state_unusable`, `node.locked` */
export function openInstanceFolder(name: InstanceName): InstanceFolder {
  const path = instancePath(name)
  const controlSocket = join(path, CONTROL_SOCKET)
  if (Buffer.byteLength(controlSocket) > MAX_SOCKET_PATH_BYTES) {
    throw new MeshError(
      'node.state_unusable',
      `the path of the control socket is too long: ${controlSocket}`,
      {
        hint: `It may have ${MAX_SOCKET_PATH_BYTES} bytes; choose a shorter --state-dir or --instance.`,
      },
    )
  }
  try {
    makeFolder(path)
  } catch (cause) {
    throw new MeshError('node.state_unusable', `cannot make the folder ${path}`, {
      cause,
      hint: '--state-dir takes another folder; --ephemeral keeps no identity or ledger but needs it too.',
    })
  }
  refuseSharedFolder(path, { named: name.stateDir, flag: '--state-dir' })
  const lock: InstanceLock = acquireInstanceLock(path, name.instance)
  return {
    path,
    controlSocket,
    isInPlace: () => lock.isInPlace(),
    release({ remove } = { remove: false }) {
      if (remove) lock.remove()
      lock.release()
      if (remove) removeIfEmpty(path)
    },
  }
}

/** Instances of any network that have a control socket, whether or not a node answers there. */
export function findControlSockets(
  stateDir: string,
): readonly { readonly networkId: string; readonly instance: string; readonly socket: string }[] {
  return listFolder(stateDir)
    .filter((networkId) => /^[0-9a-f]{20}$/.test(networkId))
    .flatMap((networkId) =>
      listFolder(join(stateDir, networkId)).flatMap((instance) => {
        const folder = instancePath({ stateDir, networkId, instance })
        if (!listFolder(folder).includes(CONTROL_SOCKET)) return []
        return [{ networkId, instance, socket: join(folder, CONTROL_SOCKET) }]
      }),
    )
}

function removeIfEmpty(folder: string): void {
  if (listFolder(folder).length === 0) rmdirSync(folder)
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
