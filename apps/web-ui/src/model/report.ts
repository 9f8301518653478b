/** The state of a node as text for an issue, without what tells who the network is. */
import type { CheckView, HealthView, ReachabilityView, VersionView } from '@mesh/api-contract'
import { redact } from './redact.ts'

export interface ReportSources {
  readonly version: VersionView | undefined
  readonly health: HealthView | undefined
  /** The checks of the examination; undefined where nobody asked for one. */
  readonly checks: readonly CheckView[] | undefined
  readonly reachability: ReachabilityView | undefined
  /** Names that may not stand in it. */
  readonly names: readonly string[]
}

export function buildReport({ version, health, checks, reachability, names }: ReportSources): string {
  const problems = health?.Problems.map(
    ({ Code, Severity, Title, Hint, Since }) =>
      `${Severity} ${Code}: ${Title}. ${Hint}${Since === null ? '' : ` (since ${Since})`}`,
  )
  const ways = reachability?.Ways.map(({ Name, Enabled, Found, LastError }) =>
    [Name, Enabled ? 'on' : 'off', Found === null ? '' : `found ${Found}`, LastError ?? '']
      .filter(Boolean)
      .join(', '),
  )
  const clock = reachability?.Clock
  return [
    `mesh ${version?.Version ?? 'of unknown version'}`,
    ...section(`Health: ${health?.Status ?? 'unknown'}`, problems),
    ...section(
      'Examination',
      checks?.map(({ Name, Verdict, Found }) => `${Verdict} ${Name}: ${Found}`),
    ),
    ...section('Discovery', ways),
    ...section('Addresses', reachability?.Addresses),
    ...section('Clock', clock ? [`${clock.AheadMs} ms ahead of ${clock.Members} members`] : undefined),
  ]
    .map((line) => redact(line, names))
    .join('\n')
}

function section(title: string, lines: readonly string[] | undefined): readonly string[] {
  if (lines === undefined) return []
  return ['', title, ...(lines.length === 0 ? ['- none'] : lines.map((line) => `- ${line}`))]
}
