/** Attacks by what is written into the ledger. */
import { gzipSync } from 'node:zlib'
import { overAndOver, together } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { RefusedError } from '../tally.ts'
import { gzippedBlock, signEntry } from '../gossip.ts'
import { pause } from '../until-true.ts'
import { createMember, fill, heartbeatOf, openVoice, sayEntries, untilHeld } from '../voice.ts'

const MB = 1024 * 1024
const NO_JSON_VALUES = 600

/**
 * Fills the victim's ledger with values that are no JSON, a part of them of characters that JSON writes with six; several
 * signers, since each has but a part of the victim's time.
 */
async function fillWithNoJson(attack: Attack): Promise<void> {
  const voice = await openVoice(attack)
  const members = Array.from({ length: 6 }, createMember)
  for (let n = 0; n < NO_JSON_VALUES && voice.isOpen(); n += 20) {
    const member = members[(n / 20) % members.length]
    if (member === undefined) break
    const entries = Array.from({ length: 20 }, (_, at) =>
      signEntry(member.signer, ['raw', `k${n + at}`, ''], {
        value: (at === 0 ? '\u0001' : 'x').repeat(60_000),
      }),
    )
    await voice.say(gzippedBlock(entries), member.seed)
  }
  for (let n = 19; n < NO_JSON_VALUES; n += 20) await untilHeld(attack, 'raw', `k${n}`)
}

/** A block of two entries whose fields have long names, each letter of which is one that is folded, as an escape. */
function createNamedBlock(): Uint8Array {
  const fields = Array.from({ length: 60 }, (_, at) => `"${at}${'\\u017f'.repeat(65_000)}":0`).join(',')
  const entries = `"k":{${fields}},"l":{${fields}}`
  return gzipSync(`{"Index":0,"Timestamp":"","Storage":{"notes":{${entries}}},"Hash":"","PrevHash":""}`)
}

export const LEDGER_ATTACKS: readonly Scenario[] = [
  {
    name: 'unknown-field',
    who: 'member',
    does: 'messages of 64 KiB with 63 MiB in a field that nobody knows, under fresh authors',
    boundedBy: 'MAX_SKIPPED_BYTES, INFLATED_BYTES_RATE',
    legacy: {},
    aim: 'messages',
    async run(attack) {
      const { signal, tally } = attack
      const list = '[],'.repeat(21 * MB)
      const block = gzipSync(
        `{"Nobody":[${list}0],"Index":0,"Timestamp":"","Storage":{},"Hash":"","PrevHash":""}`,
      )
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        while (await voice.say(block)) {
          tally.count('messages')
          await pause(500, signal)
        }
      })
    },
  },
  {
    name: 'field-names',
    who: 'member',
    does: 'messages of 70 KiB with entries of 60 fields, of which each name has 390 KB, under fresh authors from 3 connections',
    boundedBy: 'MAX_FIELD_NAME_BYTES, MAX_ENTRY_TEXT_BYTES',
    legacy: {},
    aim: 'messages',
    async run(attack) {
      const block = createNamedBlock()
      await together(3, () =>
        overAndOver(attack, async () => {
          const voice = await openVoice(attack)
          while (await voice.say(block)) {
            attack.tally.count('messages')
            await pause(200, attack.signal)
          }
        }),
      )
    },
  },
  {
    name: 'full-ledger',
    who: 'member',
    does: 'two keys write 40,000 entries into a ledger with room for 20,000; then a newcomer joins and writes',
    boundedBy: 'VITAL_ONE_IN, eviction of the largest signer, MAX_EVICTED_AT_ONCE',
    isApart: true,
    legacy: {},
    victimArgs: ['--ledger-max-entries=20000'],
    honestComesLate: true,
    aim: 'entries',
    async run(attack) {
      const { signal, tally } = attack
      let round = 0
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        for (; voice.isOpen(); round++) {
          for (const { seed, signer } of [createMember(), createMember()]) {
            const entries = Array.from({ length: 10_000 }, (_, n) =>
              signEntry(signer, ['notes', `${round}/${n}`, n]),
            )
            tally.count('entries', await sayEntries(voice, seed, [heartbeatOf(signer), ...entries]))
          }
          await pause(500, signal)
        }
      })
    },
  },
  {
    name: 'no-json-values',
    who: 'member',
    does: `${NO_JSON_VALUES} values of 60 KB that are no JSON; then 20 readers ask for the whole ledger and block over and over`,
    boundedBy: 'MAX_WHOLE_ANSWER_BYTES, LARGE_ANSWER_READERS, MAX_LARGE_ANSWER_STALL_MS',
    isApart: true,
    legacy: {},
    prepare: fillWithNoJson,
    aim: 'MiB read',
    async run(attack) {
      const { signal, target, tally } = attack
      await together(20, (at) =>
        overAndOver(
          attack,
          async () => {
            const path = at % 2 === 0 ? '/api/ledger' : '/api/blockchain'
            const answer = await fetch(`${target.url}${path}`, { signal })
            if (!answer.ok) throw new RefusedError(`status ${answer.status}`)
            for await (const piece of answer.body ?? [])
              tally.count('MiB read', (piece as Uint8Array).length / MB)
            tally.count('whole answers')
          },
          0,
        ),
      )
    },
  },
  {
    name: 'posing-legacy',
    who: 'member',
    does: 'a fresh author each 50 ms that looks like a legacy member which just came, with a ledger of 5,000 entries',
    boundedBy: 'WHOLE_LEDGER_INTERVAL_MS, WHOLE_LEDGER_BYTES_PER_S, REPUBLISH_INTERVAL_MS',
    legacy: {},
    prepare: fill,
    aim: 'legacy members',
    async run(attack) {
      const { signal, tally } = attack
      await together(8, () =>
        overAndOver(attack, async () => {
          const voice = await openVoice(attack)
          while (voice.isOpen()) {
            const { seed, signer } = createMember()
            if (await voice.say(gzippedBlock([heartbeatOf(signer)]), seed)) tally.count('legacy members')
            await pause(400, signal)
          }
        }),
      )
    },
  },
]
