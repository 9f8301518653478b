/** Ports for whoever operates a node: what it logs, and how it can be reached. */

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error' | 'off'

export interface LogPort {
  /** The levels in force, in the form of `--log-level`. */
  level(): string
  /** Do they hold after a restart that names none itself? */
  isKept(): boolean
  /** The level of every subsystem by its name. */
  subsystems(): ReadonlyMap<string, LogLevelName>
  /** Changes the levels from now on; `keep` undefined leaves what is kept alone. @throws MeshError `node.bad_log_level` */
  set(level: string, keep: boolean | undefined): void
}

/** How others can reach this node, and how it looks for them. */
export interface ReachabilityState {
  /** Multiaddrs that others can dial. */
  readonly addresses: readonly string[]
  readonly ways: readonly {
    readonly method: string
    readonly enabled: boolean
    /** The number of peers found; undefined for what finds none but helps to be reached. */
    readonly found: number | undefined
    readonly lastError: string | undefined
  }[]
  /** Undefined while no member was heard for ten minutes. */
  readonly clock:
    | {
        /** Milliseconds that this machine's clock is ahead of the members' median; less than zero: behind. */
        readonly aheadMs: number
        /** The number of members whose clocks it was compared with. */
        readonly members: number
      }
    | undefined
}
