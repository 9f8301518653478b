/** `mesh lease`: who holds which lease; with a name, takes it and keeps it until Ctrl-C. */
import type { ApiClient } from '@mesh/api-client'
import type { LeaseView } from '@mesh/api-contract'
import { delay, printable, shortPeerId, systemClock } from '@mesh/core'
import { printableJson } from '../../words/printable.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatTable } from '../format-table.ts'
import { formatDuration } from '../../settings/option.ts'

/** Renewals in one TTL. */
const RENEWALS_IN_TTL = 3

export const runLease: Run = async (call) => {
  const [name] = call.positionals
  const client = await findNode(call)
  if (name !== undefined) return await keep(client, name, call)
  const leases = await client.listLeases()
  call.out(call.settings.json ? printableJson(leases, 2) : formatLeases(leases))
  return 0
}

function formatLeases(leases: readonly LeaseView[]): string {
  if (leases.length === 0) return 'Nobody holds a lease. `mesh lease NAME` takes one.\n'
  const rows = leases.map(({ Name, Holder, Number, TTL }) => [
    printable(Name),
    shortPeerId(Holder),
    String(Number),
    formatDuration(TTL * 1_000),
  ])
  return formatTable(['LEASE', 'HOLDER', 'NUMBER', 'TTL'], rows)
}

/** @throws ApiError `lease.held`, `lease.lost` */
async function keep(client: ApiClient, name: string, { settings, out }: Call): Promise<number> {
  const ended = new AbortController()
  const end = () => ended.abort(new Error('ended by the user'))
  process.once('SIGINT', end).once('SIGTERM', end)
  const TTL = formatDuration(settings.ttl)
  const lease = await client.takeLease({ name, body: { TTL, Wait: formatDuration(settings.leaseWait) } })
  const { Number } = lease
  out(
    settings.json
      ? printableJson(lease)
      : `This node holds ${printable(name)} with the number ${Number}, until Ctrl-C.\n`,
  )
  try {
    for (;;) {
      await delay(systemClock, settings.ttl / RENEWALS_IN_TTL, ended.signal)
      await client.takeLease({ name, body: { TTL, Number } })
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error
  }
  await client.releaseLease({ name, number: String(Number) })
  return 0
}
