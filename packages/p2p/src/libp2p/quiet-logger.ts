/** A logger that says nothing: the library would make one of 2.6 KB for each connection and stream. */
import type { ComponentLogger, Logger } from '@libp2p/interface'

const quiet: Logger = Object.assign(() => {}, {
  error() {},
  trace() {},
  enabled: false,
  newScope: () => quiet,
})

/** Gives all parts of libp2p the same logger, which says nothing. */
export const quietLogger: ComponentLogger = { forComponent: () => quiet }
