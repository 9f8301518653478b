/** Keeps what nodes printed, so that a failed test can show it. */

interface NodeLog {
  readonly pid: number
  readonly lines: readonly string[]
  readonly hasEnded: () => boolean
}

/** How many lines of a node are shown. */
const SHOWN_LINES = 200
const logs = new Set<NodeLog>()

export function keepLog(log: NodeLog): void {
  logs.add(log)
}

/** Gives the last lines of each node that ran since the last call. */
export function takeLogs(): string {
  const texts = [...logs].map(({ pid, lines }) => [`node ${pid}:`, ...lines.slice(-SHOWN_LINES)].join('\n'))
  for (const log of logs) if (log.hasEnded()) logs.delete(log)
  return texts.join('\n')
}
