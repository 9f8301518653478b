/** `mesh doctor`: looks at this machine and its running node, and says what to do. CleanUps with 1 when something fails. */
import { printable, systemClock } from '@mesh/core'
import type { Check, Verdict } from '../../doctor/check.ts'
import { PATIENCE, runChecks } from '../../doctor/run-checks.ts'
import { EXIT } from '../../errors.ts'
import { printableJson } from '../../words/printable.ts'
import { stateFolder } from '../../settings/load-settings.ts'
import type { Run } from '../command.ts'
import { findNode } from '../find-node.ts'

export const runDoctor: Run = async (call) => {
  const { settings, surroundings, out } = call
  const stateDir = stateFolder(settings, surroundings)
  const isHere = settings.apiUrl === undefined || settings.apiUrl.startsWith('unix://')
  const init = { settings, stateDir, isHere, findNode: () => findNode(call, PATIENCE) }
  const checks = await runChecks(init, systemClock)
  out(settings.json ? printableJson(checks.map(checkView), 2) : formatChecks(checks))
  return checks.some(({ verdict }) => verdict === 'fail') ? EXIT.failed.code : EXIT.ok.code
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
