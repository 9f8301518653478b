import type { IpAddress } from '@mesh/core'

/** An address and a port, such as those of a router that lead to a port of this machine. */
export interface PortMapping {
  readonly address: IpAddress
  readonly port: number
}
