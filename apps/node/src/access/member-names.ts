/** Finds what people call the members: the names that machines announce in the ledger. */
import { BUCKETS, createMemo, machineRecord } from '@mesh/core'
import type { Entry, Ledger } from '@mesh/ledger'

interface Named {
  readonly peer: string
  readonly name: string
}

/**
 * Keeps what was read of entries, which never change: members write tens of thousands, and the log names each peer that comes
 * or goes.
 */
const read = createMemo<Entry, Named | null>()

/**
 * Gives the names by peer id; members without a name are not in it.
 * @param peers whose names are asked for; of all others nothing is read. All members unless given
 */
export function memberNames(
  ledger: Pick<Ledger, 'snapshot'>,
  peers?: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { entry } of ledger.snapshot().entries(BUCKETS.machines)) {
    const isMeant = peers === undefined || entry.owner === '' || peers.has(entry.owner)
    if (entry.deleted || !isMeant) continue
    let named = read.get(entry)
    if (named === undefined) read.set(entry, (named = nameIn(entry)))
    if (named !== null) names.set(named.peer, named.name)
  }
  return names
}

/** Null for an entry that names nobody: a guest's name is not its peer's. */
function nameIn({ value }: Entry): Named | null {
  const record = machineRecord.safeParse(tryParse(value)).data
  if (record === undefined || record['Guest'] === true || record.Hostname === '') return null
  return { peer: record.PeerID, name: record.Hostname }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
