/**
 * Fail-over: the member in use of a service, a route and an exit ends under traffic, and another one takes over. The time
 * from its end to the next byte, median and worst. `killed`: SIGKILL, so that its connections close. `silent`: the process
 * stands still, as a machine that lost power does for others. Namespaces with real TUN devices.
 */
import { type Failover, FLOWS, openFailoverLab, whyNoFailover } from '../../apps/node/test/failover-lab.ts'
import { median, round } from './statistics.ts'

/** How often the member in use ends, each way. */
const ENDS = { killed: 10, silent: 5 } as const

export async function measureFailover() {
  const skipped = whyNoFailover()
  if (skipped !== undefined) return { skipped }
  const lab = await openFailoverLab()
  try {
    const results: Record<string, unknown> = {}
    for (const how of ['killed', 'silent'] as const) {
      const took: Failover[] = []
      for (let at = 0; at < ENDS[how]; at++) {
        took.push(await lab.end(how))
        process.stderr.write(`  ${how} ${JSON.stringify(took.at(-1))}\n`)
        await lab.restart()
      }
      results[how] = Object.fromEntries(
        FLOWS.map((flow) => [flow, figuresOf(took.map((each) => each[flow]))]),
      )
    }
    return { ...results, leakedPackets: lab.leaked() }
  } finally {
    await lab.close()
  }
}

function figuresOf(all: readonly number[]) {
  return { count: all.length, medianMs: round(median(all)), worstMs: Math.max(...all) }
}
