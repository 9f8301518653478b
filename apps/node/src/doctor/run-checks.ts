/** One examination: gathers the facts and judges them. `mesh doctor` and the node's API run the same. */
import type { ApiClient } from '@mesh/api-client'
import { type Clock, MeshError } from '@mesh/core'
import type { Settings } from '../settings/options.ts'
import type { Check } from './check.ts'
import { examine } from './examine.ts'
import type { DoctorFacts } from './facts.ts'
import { gatherMachine } from './gather-machine.ts'
import { gatherNode } from './gather-node.ts'

/** A node that takes longer for an answer is a finding. */
export const PATIENCE = { timeoutMs: 10_000, retries: 0 } as const

export interface DoctorInit {
  readonly settings: Settings
  readonly stateDir: string
  /** Gives the node to ask. @throws MeshError where there is none */
  readonly findNode: () => ApiClient | Promise<ApiClient>
  /** The node runs on this machine. */
  readonly isHere: boolean
}

/** @throws MeshError `node.bad_input` */
export async function runChecks(init: DoctorInit, clock: Clock): Promise<readonly Check[]> {
  const [machine, node] = await Promise.all([
    gatherMachine(init.settings, init.stateDir, clock),
    gatherRunningNode(init, clock),
  ])
  return examine({ machine, node })
}

/** A node that cannot be asked is a finding, and does not end the examination. */
async function gatherRunningNode(
  { findNode, isHere }: DoctorInit,
  clock: Clock,
): Promise<DoctorFacts['node']> {
  try {
    return await gatherNode(await findNode(), isHere, clock)
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    if (error.code === 'node.bad_input') throw error
    return { missing: `No node could be asked: ${error.message}.`, next: error.hint }
  }
}
