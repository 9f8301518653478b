/** `mesh doctor`: looks at this machine and its running node, and says what to do. CleanUps with 1 when something fails. */
import { MeshError, printable, systemClock } from '@mesh/core'
import type { Check, Verdict } from '../../doctor/check.ts'
import { examine } from '../../doctor/examine.ts'
import type { DoctorFacts } from '../../doctor/facts.ts'
import { gatherMachine } from '../../doctor/gather-machine.ts'
import { gatherNode } from '../../doctor/gather-node.ts'
import { EXIT } from '../../errors.ts'
import { printableJson } from '../../words/printable.ts'
import { stateFolder } from '../../settings/load-settings.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'

/** A node that takes longer for an answer is a finding. */
const PATIENCE = { timeoutMs: 10_000, retries: 0 } as const

export const runDoctor: Run = async (call) => {
  const { settings, surroundings, out } = call
  const stateDir = stateFolder(settings, surroundings)
  const [machine, node] = await Promise.all([
    gatherMachine(settings, stateDir, systemClock),
    gatherRunningNode(call),
  ])
  const checks = examine({ machine, node })
  out(settings.json ? printableJson(checks.map(checkView), 2) : formatChecks(checks))
  return checks.some(({ verdict }) => verdict === 'fail') ? EXIT.failed.code : EXIT.ok.code
}

/** Whatever keeps it from being asked is a finding, and no end of the examination. */
async function gatherRunningNode(call: Call): Promise<DoctorFacts['node']> {
  try {
    const { apiUrl } = call.settings
    const isHere = apiUrl === undefined || apiUrl.startsWith('unix://')
    return await gatherNode(await findNode(call, PATIENCE), isHere, systemClock)
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    if (error.code === 'node.bad_input') throw error
    return { missing: `No node could be asked: ${error.message}.`, next: error.hint }
  }
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: 'ok   ', warn: 'warn ', fail: 'FAIL ', skip: '-    ' }

/** Prints the lines that people read: each finding, and below it what to do. */
export function formatChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.flatMap(({ name, verdict, found, next }) => [
    `${MARKS[verdict]} ${name.padEnd(width)}  ${printable(found)}`,
    ...(next === undefined ? [] : [`${' '.repeat(width + 8)}-> ${printable(next)}`]),
  ])
  const count = (verdict: Verdict) => checks.filter((check) => check.verdict === verdict).length
  const verdict = `${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed, ${count('skip')} not looked at`
  return `${lines.join('\n')}\n\n${verdict}\n`
}

function checkView({ name, verdict, found, next }: Check) {
  return { Check: name, Verdict: verdict, Found: found, Next: next ?? null }
}
