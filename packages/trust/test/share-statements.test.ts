/** What two nodes show each other of the bucket `admission`, while one of them writes. */
import { once } from 'node:events'
import { type PeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger, createSigner, encodeBlock } from '@mesh/ledger'
import { expect, test } from 'vitest'
import { StatementSharing } from '../src/administration/share-statements.ts'
import { signStatement } from '../src/administration/sign-statement.ts'
import { Conversation } from '../src/exchange/conversation.ts'
import { ENTRIES_PER_MESSAGE, MAX_TRUST_MESSAGE_BYTES } from '../src/limits.ts'
import { encodeTrustMessage } from '../src/exchange/trust-message.ts'
import type { TrustChannel } from '../src/ports.ts'

function createChannels([one, two]: readonly [PeerId, PeerId], { onSend, onAnswer }: Hooks = {}) {
  const ends = [new EventTarget(), new EventTarget()] as const
  const queues: Uint8Array[][] = [[], []]
  const endOf = (index: 0 | 1, peer: PeerId): TrustChannel => ({
    peer,
    async send(message) {
      if (index === 0) onSend?.(message)
      else onAnswer?.(message)
      queues[1 - index]?.push(message)
      ends[1 - index]?.dispatchEvent(new Event('message'))
    },
    async *messages() {
      for (;;) {
        const next = queues[index]?.shift()
        if (next === undefined) await once(ends[index], 'message')
        else yield next
      }
    },
    close: async () => {},
    abort: () => {},
  })
  return [endOf(0, two), endOf(1, one)] as const
}

function openSide() {
  const signer = createSigner(systemRandom.bytes(32))
  const ledger = createLedger({}, { signer, clock: systemClock })
  const sharing = new StatementSharing({
    ledger,
    mayUse: () => false,
    isConfirmed: () => false,
    publish: () => {},
    log: silentLogger,
    clock: systemClock,
  })
  const write = (key: string, valueText = '1') => {
    const statement = { key, valueText, existing: undefined, nowMs: systemClock.now() }
    ledger.merge([signStatement(statement, signer)], undefined)
  }
  return { peer: signer.peerId, ledger, sharing, write }
}

type Side = ReturnType<typeof openSide>

interface Hooks {
  /** Called before a message of the first side is taken. */
  readonly onSend?: (message: Uint8Array) => void
  /** Called before a message of the second side is taken. */
  readonly onAnswer?: (message: Uint8Array) => void
}

async function exchange(one: Side, two: Side, hooks: Hooks = {}) {
  const [near, far] = createChannels([one.peer, two.peer], hooks)
  const answered = (async () => {
    const conversation = new Conversation(far, systemClock)
    const first = await conversation.next()
    if (first !== undefined) await two.sharing.answer(conversation, first)
  })()
  await one.sharing.begin(new Conversation(near, systemClock))
  await answered
}

test('what is written while an exchange runs is shown in the next one', async () => {
  const [guest, home] = [openSide(), openSide()]
  guest.write('a')
  home.write('b')
  let sent = 0
  // the digest, the entries, the end: the snapshot is taken before the second
  const onSend = () => {
    if (++sent === 2) guest.write('late')
  }
  await exchange(guest, home, { onSend })
  expect(home.ledger.snapshot().getLive('admission', 'late')).toBeUndefined()
  expect(guest.sharing.isWanted(home.peer)).toBe(true)
  await exchange(guest, home)
  expect(home.ledger.snapshot().getLive('admission', 'late')).toBeDefined()
  await exchange(guest, home)
  expect([guest.sharing.isWanted(home.peer), home.sharing.isWanted(guest.peer)]).toEqual([false, false])
  for (const { ledger } of [guest, home]) await ledger.stop()
})

test.each(['onSend', 'onAnswer'] as const)(
  'what is written between two digests keeps neither side waiting (%s)',
  async (hook) => {
    const [guest, home] = [openSide(), openSide()]
    const writer = hook === 'onSend' ? guest : home
    guest.write('a')
    await exchange(guest, home)
    const hooks = { [hook]: () => writer.write('late') }
    await exchange(guest, home, hooks)
    expect(writer.sharing.isWanted((writer === guest ? home : guest).peer)).toBe(true)
    for (const { ledger } of [guest, home]) await ledger.stop()
  },
)

test('a peer that leaves before it has read all is shown it again', async () => {
  const [guest, home] = [openSide(), openSide()]
  guest.write('a')
  const digest = encodeTrustMessage({ kind: 'digest', digest: new Uint8Array(32) })
  const leaving: TrustChannel = {
    peer: home.peer,
    send: async () => {},
    async *messages() {
      yield digest
    },
    close: async () => {},
    abort: () => {},
  }
  await expect(guest.sharing.begin(new Conversation(leaving, systemClock))).rejects.toThrow(/ended before/)
  expect(guest.sharing.isWanted(home.peer)).toBe(true)
  for (const { ledger } of [guest, home]) await ledger.stop()
})

test('a message with more entries than it may have ends the exchange, and none of them is judged', async () => {
  const [guest, home] = [openSide(), openSide()]
  for (let at = 0; at <= ENTRIES_PER_MESSAGE; at++) guest.write(`k${at}`)
  const entries = [...guest.ledger.snapshot().entries('admission')]
  const [near, far] = createChannels([guest.peer, home.peer])
  const [asking, answering] = [near, far].map((channel) => new Conversation(channel, systemClock))
  const say = async (...messages: Parameters<Conversation['send']>[0][]) => {
    for (const message of messages) await asking?.send(message)
  }
  await say({ kind: 'entries', block: encodeBlock(entries) }, { kind: 'done' })
  const first = { kind: 'digest', digest: new Uint8Array(32) } as const
  const answered = answering === undefined ? Promise.resolve() : home.sharing.answer(answering, first)
  await expect(answered).rejects.toThrow(/more entries than a message may have/)
  expect(home.ledger.snapshot().getLive('admission', 'k0')).toBeUndefined()
  for (const { ledger } of [guest, home]) await ledger.stop()
})

test('statements that are too long for one message together go in several', async () => {
  const [guest, home] = [openSide(), openSide()]
  for (let at = 0; at < 12; at++) home.write(`k${at}`, JSON.stringify('x'.repeat(21_500)))
  let longest = 0
  const onSend = (message: Uint8Array) => void (longest = Math.max(longest, message.length))
  await exchange(home, guest, { onSend })
  expect(guest.ledger.snapshot().count('admission')).toBe(12)
  expect(longest).toBeLessThan(MAX_TRUST_MESSAGE_BYTES)
  for (const { ledger } of [guest, home]) await ledger.stop()
})
