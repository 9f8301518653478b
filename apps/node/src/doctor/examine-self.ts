/** The examination of a node by itself: it asks its own API over its control socket. */
import { createNodeClient } from '@mesh/api-client/node'
import type { CheckView } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import type { Settings } from '../settings/options.ts'
import { PATIENCE, runChecks } from './run-checks.ts'

export interface SelfInit {
  readonly settings: Settings
  readonly stateDir: string
  readonly controlSocket: string
}

export async function examineSelf(
  { settings, stateDir, controlSocket }: SelfInit,
  clock: Clock,
): Promise<readonly CheckView[]> {
  const findNode = () => createNodeClient({ ...PATIENCE, baseUrl: `unix://${controlSocket}` })
  const checks = await runChecks({ settings, stateDir, findNode, isHere: true }, clock)
  return checks.map(({ name, verdict, found, next = null }) => ({
    Name: name,
    Verdict: verdict,
    Found: found,
    Next: next,
  }))
}
