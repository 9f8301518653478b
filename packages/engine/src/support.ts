/** Can this machine have the interface, and if not, why, and what to do. Looks, changes nothing. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { MeshError } from '@mesh/core'
import { type EngineErrorCode, HINTS } from './errors.ts'
import { loadAddon } from './native.ts'

export type EngineSupport =
  | { readonly supported: true }
  | {
      readonly supported: false
      readonly code: EngineErrorCode
      readonly message: string
      readonly hint: string
    }

export interface EngineSupportInit {
  /** The addon's file, where it is not in its platform package. */
  readonly addon?: string
}

const TUN_DEVICE = '/dev/net/tun'
/** Bits in a capability mask (capability.h). */
const CAP_NET_ADMIN = 12n
const CAP_NET_RAW = 13n
const CONTAINER_MARKS: readonly string[] = ['/.dockerenv', '/run/.containerenv']
/** The errors that options of a container mend; a missing kernel module is none of them. */
const CONTAINER_CODES: ReadonlySet<EngineErrorCode> = new Set(['engine.no_tun', 'engine.no_permission'])
const CONTAINER_HINT = 'In a container, start it with --cap-add NET_ADMIN --device /dev/net/tun.'
/** A runtime makes the device with the mode that it has on the host. */
const DEVICE_HINT =
  'On the host of the container: chmod 666 /dev/net/tun, as udev does. Or run it as root: --user 0.'

/** The things that `openEngine` needs, in the order in which people can mend it. */
export function engineSupport(init: EngineSupportInit = {}): EngineSupport {
  return support(init, [CAP_NET_ADMIN], () => {
    try {
      accessSync(TUN_DEVICE, constants.R_OK | constants.W_OK)
      return undefined
    } catch (error) {
      const denied = (error as NodeJS.ErrnoException).code === 'EACCES'
      return denied
        ? unsupported('engine.no_permission', `${TUN_DEVICE} may not be opened by this user`, DEVICE_HINT)
        : unsupported('engine.no_tun', `${TUN_DEVICE} does not exist`)
    }
  })
}

/** The things that `openKernelEngine` needs. A module that the kernel can load by itself is there. */
export function kernelSupport(init: EngineSupportInit = {}): EngineSupport {
  return support(init, [CAP_NET_ADMIN, CAP_NET_RAW], () =>
    hasWireguardModule()
      ? undefined
      : unsupported('engine.no_kernel_wireguard', "this machine's kernel has no WireGuard"),
  )
}

function support(
  { addon }: EngineSupportInit,
  capabilities: readonly bigint[],
  reasonAgainst: () => EngineSupport | undefined,
): EngineSupport {
  try {
    loadAddon(addon)
  } catch (error) {
    if (error instanceof MeshError) return unsupported('engine.no_addon', error.message)
    throw error
  }
  const reason = reasonAgainst()
  if (reason !== undefined) return reason
  return capabilities.every(hasCapability)
    ? { supported: true }
    : unsupported('engine.no_permission', 'this process may not change network interfaces')
}

/** Loaded, built in, or among the modules of the kernel that runs. */
function hasWireguardModule(): boolean {
  if (existsSync('/sys/module/wireguard')) return true
  const folder = `/lib/modules/${release()}`
  return ['modules.builtin', 'modules.dep'].some((list) => {
    try {
      return /\/wireguard\.ko/.test(readFileSync(`${folder}/${list}`, 'utf8'))
    } catch {
      return false
    }
  })
}

function unsupported(
  code: EngineErrorCode,
  message: string,
  containerHint: string = CONTAINER_HINT,
): EngineSupport {
  const inContainer = CONTAINER_CODES.has(code) && CONTAINER_MARKS.some((path) => existsSync(path))
  return { supported: false, code, message, hint: inContainer ? containerHint : (HINTS[code] ?? '') }
}

function hasCapability(bit: bigint): boolean {
  try {
    const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return mask === undefined || ((BigInt(`0x${mask}`) >> bit) & 1n) === 1n
  } catch {
    // no procfs: opening will tell
    return true
  }
}
