/** The port for what a node logs. */
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
