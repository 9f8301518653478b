/** A member of the kind before ours: whole blocks after each write and every few seconds, and no other way. */
import { createLedger, encodeBlock, type Ledger, type Signer } from '@mesh/ledger'
import type { SimSurroundings } from './sim-node.ts'
import { verifySim } from './sim-node.ts'

export interface LegacyMember {
  readonly ledger: Ledger
  /** Blocks received, with how many entries each carried. */
  readonly received: { readonly author: string; readonly text: string }[]
  stop(): Promise<void>
}

export function startLegacyMember(signer: Signer, { network, clock, random }: SimSurroundings): LegacyMember {
  const ledger = createLedger({}, { signer, verify: verifySim, clock })
  const link = network.join(signer.peerId)
  const received: { author: string; text: string }[] = []
  const send = () => {
    const snapshot = ledger.snapshot()
    void link.topic.publish(encodeBlock(snapshot.entries(), snapshot.head))
  }
  link.topic.onMessage(({ author, plaintext }) => {
    received.push({ author, text: new TextDecoder().decode(plaintext) })
    void ledger.receiveBlock(plaintext, author)
  })
  ledger.subscribe((event) => {
    if (event.type === 'committed' && event.changes.some(({ origin }) => origin === 'local')) send()
  })
  let cancel = () => {}
  const sync = () => {
    send()
    cancel = clock.after(5000 + 10_000 * random.float(), sync)
  }
  sync()
  return {
    ledger,
    received,
    async stop() {
      cancel()
      link.unplug()
      await ledger.stop()
    },
  }
}
