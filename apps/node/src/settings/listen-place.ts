/** Where `mesh api` listens: what `--listen` says, or a socket that the init system hands over. */
import { isAbsolute, resolve } from 'node:path'
import { type ListenAddress, parseListenAddress } from '@mesh/api-server'
import { type Logger, MeshError } from '@mesh/core'

/** The first descriptor that an init system passes on (sd_listen_fds). */
const INHERITED_DESCRIPTOR = 3
const DEFAULT_SOCKET_MODE = 0o660

export interface ListenPlaceInit {
  /** The place that `--listen` names. */
  readonly listen: string
  /** Folder that a relative socket path counts from. */
  readonly base: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly pid: number
}

/** @throws MeshError `api.bad_listen_address`, `api.inherited_unusable` */
export function findListenPlace(init: ListenPlaceInit, log: Logger): ListenAddress {
  const inherited = inheritedSocket(init)
  if (inherited !== undefined) return inherited
  const address = parseListenAddress(init.listen)
  if (address.kind !== 'unix') return address
  const path = isAbsolute(address.path) ? address.path : resolve(init.base, address.path)
  return { kind: 'unix', path, mode: socketMode(init.environment['APILISTENUNIXMODE'], log) }
}

/** Undefined when nothing was handed over, or to another process. */
function inheritedSocket({ environment, pid }: ListenPlaceInit): ListenAddress | undefined {
  const { LISTEN_PID: forPid, LISTEN_FDS: count } = environment
  if (forPid !== String(pid)) return undefined
  if (count === '1') return { kind: 'inherited', descriptor: INHERITED_DESCRIPTOR }
  throw new MeshError('api.inherited_unusable', `LISTEN_FDS is ${JSON.stringify(count ?? '')}, not 1`, {
    hint: 'Let the init system hand over exactly one listening socket.',
  })
}

function socketMode(text: string | undefined, log: Logger): number {
  if (text === undefined || text === '') return DEFAULT_SOCKET_MODE
  if (/^0?[0-7]{3}$/.test(text)) return Number.parseInt(text, 8)
  log.warn('APILISTENUNIXMODE is no octal mode like 0660; using 0660', { value: text })
  return DEFAULT_SOCKET_MODE
}
