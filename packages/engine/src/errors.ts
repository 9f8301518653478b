import { MeshError } from '@mesh/core'

/** Why the engine could not be opened, or was used wrongly. */
export type EngineErrorCode =
  | 'engine.address_in_use'
  | 'engine.bad_name'
  | 'engine.bad_table'
  | 'engine.closed'
  | 'engine.name_in_use'
  | 'engine.no_addon'
  | 'engine.no_kernel_wireguard'
  | 'engine.no_permission'
  | 'engine.no_tun'
  | 'engine.port_in_use'
  | 'engine.route_in_use'
  | 'engine.system'

/** The next step, for each code that people meet. */
export const HINTS: Readonly<Partial<Record<EngineErrorCode, string>>> = {
  'engine.address_in_use': 'Choose another address: this one is in use on this machine.',
  'engine.bad_name': 'An interface name has 1 to 15 characters without spaces, "/" and "%", like mesh0.',
  'engine.name_in_use': 'Choose another name with --interface, or stop the program that has this interface.',
  'engine.no_addon':
    'Install the optional dependencies, or Rust and run the build again: the rest works without.',
  'engine.no_kernel_wireguard':
    'Load its module (modprobe wireguard; Linux has it since 5.6), or start with --wireguard engine.',
  'engine.no_permission': 'Run as root, or give the program CAP_NET_ADMIN (setcap cap_net_admin+ep).',
  'engine.no_tun':
    'Load the tun module (modprobe tun); in a container, pass the device on (--device /dev/net/tun).',
  'engine.port_in_use':
    'Give another port by --udp-port, or stop the program that has this one: `ss -lunp` names it.',
  'engine.route_in_use':
    'Routes of this machine are never replaced: remove that route, or do not accept or advertise this network.',
}

/** An error of this package with its hint. */
export function engineError(
  code: EngineErrorCode,
  message: string,
  cause?: unknown,
): MeshError<EngineErrorCode> {
  const hint = HINTS[code]
  return new MeshError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause }),
  })
}

/** Errors of the addon carry their code in the first line of the message. */
export function fromNative(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const [code, ...rest] = error.message.split('\n')
  if (code === undefined || !code.startsWith('engine.') || rest.length === 0) return error
  return engineError(code as EngineErrorCode, rest.join('\n'), error)
}
