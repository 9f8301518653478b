import type { Leases, Ledger } from '@mesh/ledger'
import type { P2pMember } from '@mesh/p2p/node'
import type { Replicator } from '@mesh/replication'
import type { Trust } from '@mesh/trust'
import type { AccessRules } from '@mesh/trust/rules'
import type { Identity } from '../state/identity.ts'
import type { ExitHost } from '@mesh/exit-node'
import type { KeptExit } from './kept-exit.ts'
import type { NodeApi } from './create-api.ts'
import type { NodeDns } from './node-dns.ts'
import type { NodeComponents, NodeInit, StartOptions } from './node-init.ts'

/** The values and parts that those which join the network are given. */
export interface JoinInit
  extends NodeInit,
    NodeComponents,
    Pick<StartOptions, 'onInterface' | 'onDns' | 'onService' | 'signal'> {
  /** The folder of the instance. */
  readonly folder: string
  readonly identity: Identity
  readonly ledger: Ledger
  readonly leases: Leases
  readonly trust: Trust | undefined
  readonly rules: AccessRules
  readonly api: NodeApi
  readonly exit: ExitHost
  readonly keptExit: KeptExit
  readonly dns: NodeDns
}

/** The same with what they have joined by. */
export interface JoinedInit extends JoinInit {
  readonly p2p: P2pMember
  readonly replicator: Replicator
}
