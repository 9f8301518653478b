/** Answers what whoever operates a node asks for: its log, and how it can be reached. */
import type { LogLevelView, ReachabilityView } from '@mesh/api-contract'
import { Problem } from '../messages/problem.ts'
import type { LogPort } from '../operation-ports.ts'
import type { HandlersOf } from './handler.ts'

interface OperationComponents {
  readonly log: LogPort | undefined
  /** Undefined until the host listens. */
  readonly reachability: () => ReachabilityView | undefined
}

export function createOperation({
  log,
  reachability,
}: OperationComponents): HandlersOf<'getReachability' | 'getLogLevel' | 'putLogLevel'> {
  const port = () => {
    if (log === undefined) throw new Problem('node.no_log')
    return log
  }
  return {
    getReachability() {
      const state = reachability()
      if (state === undefined) throw new Problem('node.not_ready')
      return state
    },
    getLogLevel: () => logLevelView(port()),
    putLogLevel({ body }) {
      port().set(body.Level, body.Keep)
      return logLevelView(port())
    },
  }
}

function logLevelView(log: LogPort): LogLevelView {
  return {
    Level: log.level(),
    Kept: log.isKept(),
    Subsystems: [...log.subsystems()].map(([Name, Level]) => ({ Name, Level })),
  }
}
