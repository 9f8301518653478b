import { useMemo } from 'react'
import { buildPeerRows, type PeerRow } from '../model/peer-row.ts'
import type { Read } from '../parts/notes.tsx'
import { useMachines } from './machines.tsx'
import { useRead } from './reads.ts'

/** Peers come and go with events; what the store learns comes with none. */
const STORE_EVERY_MS = 30_000

/** Every peer that this node knows; members are polled for the whole page by `useMachines`. */
export function usePeerRows(): Read & { readonly data: readonly PeerRow[] | undefined } {
  const { machines } = useMachines()
  const summary = useRead('getSummary', {})
  const peers = useRead('listPeers', {})
  const nodes = useRead('listNodes', {})
  const store = useRead('listPeerstore', {}, { everyMs: STORE_EVERY_MS })
  const self = summary.data?.NodeID
  const data = useMemo(() => {
    if (self === undefined || !peers.data || !nodes.data || !store.data) return undefined
    const sources = { peers: peers.data, nodes: nodes.data, store: store.data }
    return buildPeerRows({ self, machines: machines ?? [], ...sources })
  }, [self, machines, peers.data, nodes.data, store.data])
  const reads = [summary, peers, nodes, store]
  return {
    data,
    error: reads.find(({ error }) => error !== null)?.error ?? null,
    refetch() {
      for (const read of reads) if (read.isError) void read.refetch()
    },
  }
}
