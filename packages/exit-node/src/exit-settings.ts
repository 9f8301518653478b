/** The settings of exit nodes: flags of the same names in docs/flags.md. */
export interface ExitSettings {
  /** The name of the VPN's interface. */
  readonly interface: string
  readonly exitNode: string | undefined
  readonly exitNodeBlockLan: boolean
  readonly advertiseExit: boolean
  readonly advertiseRoute: readonly string[]
  readonly router: string | undefined
  /** The mark on this node's own packets; 0: none. */
  readonly fwmark: number
  readonly dnsConfigure: boolean
  readonly dnsForwarder: boolean
}
