import type { Clock, Logger, Random } from '@mesh/core'

/** The components that every part of this package is given: time, randomness and a log. */
export interface P2pComponents {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}
