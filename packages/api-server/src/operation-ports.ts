/** The ports for what a node logs, and what it says of itself. */
import type { CheckView, LogLinesView, SettingView } from '@mesh/api-contract'

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
  /** The kept lines after the number of a line, counted from 1; all kept lines when the log has not come to that number. */
  lines(after: number): LogLinesView
}

/** Examines the machine and the node, as `mesh doctor` does. */
export type DoctorPort = () => Promise<readonly CheckView[]>

/** The settings in force, in the order of the help. */
export type SettingsPort = () => readonly SettingView[]
