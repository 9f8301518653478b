import { createContext, use, useMemo } from 'react'
import { buildMachines, type Machine, nameOf } from '../model/machine.ts'
import { useRead } from './reads.ts'

/** Round trips and rates come with no event. Of many peers the answer is long, and one of them is rarely looked at. */
const PEERS_EVERY_MS = 5_000
const MANY_PEERS = 200
const MANY_PEERS_EVERY_MS = 20_000
/** A heartbeat that is older than ten minutes ends silently. */
const NODES_EVERY_MS = 30_000

export interface MachinesRead {
  /** Undefined until everything that makes the list was read once. */
  readonly machines: readonly Machine[] | undefined
  /** When their paths and rates were read, Unix ms; 0 for never. */
  readonly readAt: number
  /** Why they could not be read, where they never were. */
  readonly error: Error | null
  refetch(): void
}

const MachinesContext = createContext<MachinesRead | undefined>(undefined)

/** Reads and joins the machines once for the whole page. */
export function MachinesProvider({ children }: { children: React.ReactNode }) {
  return <MachinesContext value={useMachinesRead()}>{children}</MachinesContext>
}

/** All machines of the network, and how each is reached. */
export function useMachines(): MachinesRead {
  const read = use(MachinesContext)
  if (read === undefined) throw new Error('outside of MachinesProvider')
  return read
}

/** Gives the names of machines by id, as `nameOf` has them. */
export function useNames(): (id: string) => string {
  const { machines = [] } = useMachines()
  return (id) => nameOf(machines, id)
}

function useMachinesRead(): MachinesRead {
  const summary = useRead('getSummary', {})
  const nodes = useRead('listNodes', {}, { everyMs: NODES_EVERY_MS })
  const records = useRead('listMachines', {}, { everyMs: NODES_EVERY_MS })
  const peers = useRead(
    'listPeers',
    {},
    { everyMs: (known) => ((known?.length ?? 0) > MANY_PEERS ? MANY_PEERS_EVERY_MS : PEERS_EVERY_MS) },
  )
  const version = useRead('getVersion', {})
  const node = useRead('getNode', {})
  const self = summary.data?.NodeID
  const selfVersion = version.data?.Version ?? ''
  const selfName = node.data?.Name ?? ''
  const machines = useMemo(() => {
    if (self === undefined || !nodes.data || !records.data || !peers.data) return undefined
    const sources = { nodes: nodes.data, machines: records.data, peers: peers.data }
    return buildMachines({ self, selfVersion, selfName, ...sources })
  }, [self, selfVersion, selfName, nodes.data, records.data, peers.data])
  const reads = [summary, nodes, records, peers]
  return {
    machines,
    readAt: peers.dataUpdatedAt,
    error: machines === undefined ? (reads.find((read) => read.error !== null)?.error ?? null) : null,
    refetch() {
      for (const read of reads) if (read.isError) void read.refetch()
    },
  }
}
