/**
 * The logger of libp2p, which says nothing: what a node has to say goes through its own. The library makes a logger of its
 * kind for each connection and for each stream, of 2.6 KB each, a third of what a stream takes that waits.
 */
import type { ComponentLogger, Logger } from '@libp2p/interface'

const quiet: Logger = Object.assign(() => {}, {
  error() {},
  trace() {},
  enabled: false,
  newScope: () => quiet,
})

/** Gives all parts of libp2p the same logger, which says nothing. */
export const quietLogger: ComponentLogger = { forComponent: () => quiet }
