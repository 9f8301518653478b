/** Structured logs: a constant message and fields. No secrets, no payloads. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger whose lines carry `subsystem`. */
  child(subsystem: string): Logger
}

export type LogFields = Readonly<Record<string, unknown>>

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
