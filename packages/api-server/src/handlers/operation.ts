/** Answers what operators of a node ask: its log, how it can be reached, what is wrong, and its settings. */
import type { LogLevelView } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import { DOCTOR_KEPT_MS } from '../limits.ts'
import { Problem } from '../messages/problem.ts'
import type { DoctorPort, LogPort } from '../operation-ports.ts'
import type { ApiServerComponents } from '../ports.ts'
import type { HandlersOf } from './handler.ts'

type OperationIds =
  | 'getReachability'
  | 'getLogLevel'
  | 'putLogLevel'
  | 'readLog'
  | 'runDoctor'
  | 'listSettings'

type OperationComponents = Pick<ApiServerComponents, 'log' | 'reachability' | 'doctor' | 'settings' | 'clock'>

export function createOperation({
  log,
  reachability,
  doctor = notReady,
  settings = () => [],
  clock,
}: OperationComponents): HandlersOf<OperationIds> {
  const examine = shareRuns(doctor, clock)
  const port = () => {
    if (log === undefined) throw new Problem('node.no_log')
    return log
  }
  return {
    getReachability: () => reachability?.() ?? notReady(),
    getLogLevel: () => logLevelView(port()),
    putLogLevel({ body }) {
      port().set(body.Level, body.Keep)
      return logLevelView(port())
    },
    readLog: ({ after = 0 }) => port().lines(after),
    runDoctor: async () => [...(await examine())],
    listSettings: () => [...settings()],
  }
}

/** One run at a time: callers get the answer of the run that goes on, or that has just ended. */
function shareRuns(run: DoctorPort, clock: Clock): DoctorPort {
  let running: ReturnType<DoctorPort> | undefined
  let keptUntilMs = Infinity
  return () => {
    if (running !== undefined && clock.monotonic() < keptUntilMs) return running
    keptUntilMs = Infinity
    running = run().finally(() => (keptUntilMs = clock.monotonic() + DOCTOR_KEPT_MS))
    return running
  }
}

function notReady(): never {
  throw new Problem('node.not_ready')
}

function logLevelView(log: LogPort): LogLevelView {
  return {
    Level: log.level(),
    Kept: log.isKept(),
    Subsystems: [...log.subsystems()].map(([Name, Level]) => ({ Name, Level })),
  }
}
