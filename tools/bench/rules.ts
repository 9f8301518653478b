/**
 * What rules cost: TCP through one tunnel with 1,000 rules and with none, in turn; the time until 1,000 machines and as many
 * rules are in force; and short flows without end.
 */
import { engineSupport } from '@mesh/engine'
import { whyNoNamespaces } from '@mesh/testkit'
import { iperf, pingSoon, serveIperf } from '../../apps/node/test/vpn-lab.ts'
import { openRulesPair, passShortFlows, type RulesPair } from '../../packages/engine/bench/rules-pair.ts'
import { median, round } from './statistics.ts'
import { cpuSeconds } from './vpn/processes.ts'

const RULES = 1_000
const ROUNDS = 5
const SECONDS = '2'
const FLOWS = 10_000_000
/** The aim: so much of the throughput without rules, at least. */
const LEAST_RATIO = 0.95
const MOST_COMPILE_MS = 50
const MOST_GROWN_MB = 16

interface Tcp {
  readonly gbps: number
  readonly cpuSecondsPerGB: number
}

export async function measureRules() {
  const flows = await passShortFlows(FLOWS)
  const { seconds, grownMB, most } = flows
  const short = {
    flows: flows.flows,
    flowsPerSecond: Math.round(flows.flows / seconds),
    mostAtOnce: most,
    grownMB: round(grownMB, 1),
    isMet: grownMB <= MOST_GROWN_MB,
  }
  const support = engineSupport()
  const skipped =
    whyNoNamespaces(['ip', 'iperf3', 'ping']) ?? (support.supported ? undefined : support.message)
  return { ...(skipped === undefined ? await measureTunnel() : { skipped }), short }
}

async function measureTunnel() {
  const pair = await openRulesPair()
  const stop = await serveIperf(pair.lab, 'right')
  try {
    await pingSoon(pair.lab, 'left', pair.to)
    await tcp(pair, '4')
    const compile: number[] = []
    const streams: Record<string, unknown> = {}
    for (const count of ['1', '4']) streams[`tcp${count}`] = await compare(pair, count, compile)
    const compileMs = round(median(compile), 1)
    return { ...streams, compileMs, isCompiledInTime: compileMs <= MOST_COMPILE_MS }
  } finally {
    await stop()
    await pair.close()
  }
}

/** Both in each round, so that what else the machine does is the same for both. */
async function compare(pair: RulesPair, streams: string, compile: number[]) {
  const rounds: { readonly without: Tcp; readonly with: Tcp }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await pair.setRules(0)
    const without = await tcp(pair, streams)
    compile.push(await pair.setRules(RULES))
    const ruled = await tcp(pair, streams)
    process.stderr.write(`  rules tcp${streams}: ${JSON.stringify({ without, ruled })}\n`)
    rounds.push({ without, with: ruled })
  }
  const of = (figure: keyof Tcp, which: 'without' | 'with') =>
    round(median(rounds.map((each) => each[which][figure])), 3)
  const ratioOf = (figure: keyof Tcp) =>
    round(median(rounds.map((each) => each.with[figure] / each.without[figure])), 3)
  const ratio = ratioOf('gbps')
  return {
    without: { gbps: of('gbps', 'without'), cpuSecondsPerGB: of('cpuSecondsPerGB', 'without') },
    with: { gbps: of('gbps', 'with'), cpuSecondsPerGB: of('cpuSecondsPerGB', 'with') },
    ratio,
    cpuRatio: ratioOf('cpuSecondsPerGB'),
    isMet: ratio >= LEAST_RATIO,
  }
}

async function tcp({ lab, to, pids }: RulesPair, streams: string): Promise<Tcp> {
  const before = cpuSeconds(pids)
  const { bitsPerSecond, bytes } = await iperf(lab, 'left', to, ['-t', SECONDS, '-P', streams])
  return { gbps: bitsPerSecond / 1e9, cpuSecondsPerGB: (cpuSeconds(pids) - before) / (bytes / 1e9) }
}
