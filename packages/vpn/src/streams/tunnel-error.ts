import { type Clock, MeshError, withDeadline } from '@mesh/core'

/** Why a peer has no tunnel. */
export type TunnelErrorCode =
  /** The peer speaks neither `/mesh/vpn/1` nor `/edgevpn/0.1`. */
  | 'vpn.no_common_protocol'
  /** The exchange of keys failed; the cause says why. */
  | 'vpn.no_keys'
  /** The connection to it was lost. */
  | 'vpn.unreachable'
  /** It did not answer in time. */
  | 'vpn.timeout'
  | 'vpn.stopped'

const HINTS: Readonly<Partial<Record<TunnelErrorCode, string>>> = {
  'vpn.no_common_protocol': 'Start the VPN on that peer, or update the program there.',
  'vpn.no_keys': 'Restart the VPN on that peer if this lasts.',
}

export function tunnelError(
  code: TunnelErrorCode,
  message: string,
  cause?: unknown,
): MeshError<TunnelErrorCode> {
  const hint = HINTS[code]
  return new MeshError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause }),
  })
}

/** Runs `work` with a signal that aborts with `vpn.timeout` after `ms`, or with `signal`. */
export function within<T>(
  { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const reason = () => tunnelError('vpn.timeout', `no answer within ${ms} ms`)
  return withDeadline({ clock, ms, signal, reason }, work)
}
