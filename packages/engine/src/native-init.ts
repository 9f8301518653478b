/** Translates what a person asks of an engine into the addon's words. */
import type { NativeInit } from './native.ts'

export interface UdpInit {
  /** 0, the default: the kernel chooses one. */
  readonly port?: number
  /** The routing mark of what the socket sends (SO_MARK), which needs CAP_NET_ADMIN. */
  readonly mark?: number
}

/** How the addon is told of the socket. */
export function nativeUdp(udp: UdpInit | undefined): Pick<NativeInit, 'udpPort' | 'udpMark'> {
  if (udp === undefined) return {}
  return { udpPort: udp.port ?? 0, ...(udp.mark !== undefined && { udpMark: udp.mark }) }
}
