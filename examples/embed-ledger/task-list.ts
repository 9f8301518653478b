/** A task list that everyone keeps a copy of: whoever claims a task first keeps it, until they release it. */
import { createLedger, createSigner, defaultPolicies, encodeBlock, ownedBySigner } from '@mesh/ledger'

/** @param send carries a block to all others, by whatever way */
export function openTaskList(send: (block: Uint8Array) => void) {
  const signer = createSigner(crypto.getRandomValues(new Uint8Array(32)))
  const tasks = { ...ownedBySigner, expiry: 'never' as const }
  const ledger = createLedger({ policies: { ...defaultPolicies, tasks } }, { signer })
  ledger.subscribe((event) => {
    const own = event.type === 'committed' ? event.changes.filter(({ origin }) => origin === 'local') : []
    if (own.length > 0) send(encodeBlock(own))
  })
  return {
    self: ledger.self,
    claim: (task: string) => ledger.put('tasks', task, '{}').settled,
    release: (task: string) => ledger.delete('tasks', task).settled,
    hear: (block: Uint8Array) => ledger.receiveBlock(block, undefined),
    all: () => encodeBlock(ledger.snapshot().entries()),
    claims: () => [...ledger.snapshot().entries('tasks')].filter(({ entry }) => !entry.deleted),
  }
}
