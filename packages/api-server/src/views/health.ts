/** Makes what `/api/health` tells: the problems, the worst first, each with the time since when it is there. */
import type { HealthView } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import type { HealthProblem } from '../ports.ts'

/** Gives the view of problems. One without a time of its own has that at which its code was first told. */
export function createHealthView(
  clock: Pick<Clock, 'now'>,
): (problems: readonly HealthProblem[]) => Omit<HealthView, 'Ownership'> {
  let firstTold: ReadonlyMap<string, number> = new Map()
  return (problems) => {
    const now = clock.now()
    firstTold = new Map(problems.map(({ code }) => [code, firstTold.get(code) ?? now]))
    const worstFirst = problems.toSorted((a, b) => rank(a) - rank(b))
    return {
      Status: worstFirst[0]?.severity ?? 'ok',
      Problems: worstFirst.map(({ code, severity, title, hint, since = firstTold.get(code) ?? now }) => ({
        Code: code,
        Severity: severity,
        Title: title,
        Hint: hint,
        Since: new Date(since).toISOString(),
      })),
    }
  }
}

function rank({ severity }: HealthProblem): number {
  return severity === 'error' ? 0 : 1
}
