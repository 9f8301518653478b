/** The values and parts that a node is given when it starts. */
import type { ListenAddress } from '@mesh/api-server'
import type { Clock, Logger, Random } from '@mesh/core'
import type { LogLevels } from '../log/log-level.ts'
import type { LogTail } from '../log/log-tail.ts'
import type { Settings } from '../settings/options.ts'
import type { SettingsOrigin } from '../settings/settings-in-force.ts'
import type { Network } from '../state/network.ts'
import type { Announcement } from './announce.ts'

export interface NodeInit {
  readonly settings: Settings
  /** Where the settings came from. */
  readonly origin: SettingsOrigin
  readonly network: Network
  readonly stateDir: string
  /** Where the API listens beside the control socket, which every node has. */
  readonly listen: ListenAddress | undefined
  /** The folder that relative paths of sockets count from. */
  readonly base: string
  /** Make the network interface, and carry packets. */
  readonly hasVpn: boolean
  /** The person named the levels of the log: those that were kept do not count. */
  readonly namesLevels?: boolean
  /** An address of `--dns` that cannot be had ends the node; else it is a problem that may pass. */
  readonly needsDns: boolean
  /** Entries that are kept while the node runs. */
  readonly announcements: readonly Announcement[]
}

export interface NodeComponents {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The levels of `log`, where they can be changed. */
  readonly levels?: LogLevels
  /** The last lines of `log`. */
  readonly tail: LogTail
  /** Milliseconds since the process began. */
  readonly uptimeMs: () => number
}

export interface StartOptions {
  readonly signal: AbortSignal
  /** The API answers, at this address; undefined when only the control socket does. */
  readonly onListening: (url: string | undefined) => void
  /** The interface stands, with addresses like `10.1.0.11/24`. */
  readonly onInterface: (name: string, addresses: readonly string[]) => void
  /** A service, a connection to one, or the proxy is ready, in words. */
  readonly onService: (line: string) => void
  /** DNS is answered there, `127.0.0.1:5353`. */
  readonly onDns: (place: string) => void
}
