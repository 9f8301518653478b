import { useCallback } from 'react'
import { useClient } from '../data/client-context.tsx'
import type { Machine } from '../model/machine.ts'
import { roundTripInWords } from '../model/time-words.ts'
import { words } from '../words/en.ts'
import { useMachineItems } from './found.ts'
import { FoundGroup } from './found-group.tsx'

interface PingTargetProps {
  readonly query: string
  readonly onOutcome: (words: string) => void
}

/** Asks which machine to ping, and says what came of it. */
export function PingTarget({ query, onOutcome }: PingTargetProps) {
  const client = useClient()
  const ping = useCallback(
    async ({ id, name }: Machine) => {
      onOutcome(words.palette.pinging(name))
      try {
        const { Path, RoundTripMs } = await client.pingPeer({ peer: id })
        onOutcome(words.palette.pinged(name, Path ?? '', roundTripInWords(RoundTripMs)))
      } catch (error) {
        onOutcome(error instanceof Error ? error.message : String(error))
      }
    },
    [client, onOutcome],
  )
  const run = useCallback((machine: Machine) => void ping(machine), [ping])
  const items = useMachineItems(run).map((item) => ({ ...item, stays: true }))
  return <FoundGroup title={words.found.machines} items={items} query={query} onClose={() => {}} />
}
