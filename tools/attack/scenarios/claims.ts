/** Attacks by claims: of keys, of addresses, and of a time. */
import { overAndOver } from '../attackers.ts'
import type { Scenario } from '../scenario.ts'
import type { AttackTarget } from '../scenario.ts'
import { gzippedBlock, signEntry } from '../gossip.ts'
import { pause } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice } from '../voice.ts'

const HOUR_MS = 3_600_000
/** Keys that claim a whole range together. */
const SQUATTERS = 12

/** Has the victim itself write a name, as its user would. */
async function putName({ kind, url }: AttackTarget, key: string, query = ''): Promise<void> {
  if (kind === 'legacy') {
    const body = JSON.stringify({ Regex: key, Records: { A: '10.1.0.9' } })
    await fetch(`${url}/api/dns`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    return
  }
  await fetch(`${url}/api/ledger/dns/${encodeURIComponent(key)}${query}`, {
    method: 'PUT',
    body: '{"A":"10.1.0.9"}',
    headers: { 'content-type': 'application/json' },
  })
}

/** The version of a name's entry; 0 without one. */
async function versionOf({ kind, url }: AttackTarget, key: string): Promise<bigint> {
  const path = kind === 'mesh' ? `/dns/${encodeURIComponent(key)}` : ''
  const block = await (await fetch(`${url}/api/blockchain${path}`)).text()
  const entry = kind === 'mesh' ? block : block.slice(block.indexOf(`${JSON.stringify(key)}:{`))
  return BigInt(/"Version":(\d+)/.exec(entry)?.[1] ?? 0)
}

/** Names that the victim keeps in the ledger. */
const KEPT_NAMES = Array.from({ length: 200 }, (_, n) => `^kept${n}$`)

export const CLAIM_ATTACKS: readonly Scenario[] = [
  {
    name: 'claims-before',
    who: 'member',
    does: 'claims every key that the victim claims, dated a nanosecond earlier, under fresh live keys',
    boundedBy: 'races only by when a claim came; MAX_YIELDS, YIELD_MEMORY_MS',
    isApart: true,
    legacy: {},
    aim: 'claims',
    async run(attack) {
      const { target, signal, tally } = attack
      let n = 0
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        for (; voice.isOpen(); n++) {
          const key = `^claimed${n}$`
          await putName(target, key, '?wait=1s')
          const version = await versionOf(target, key)
          const { seed, signer } = createMember()
          const claim = signEntry(signer, ['dns', key, { 1: '10.1.0.66' }], { version: version - 1n })
          await voice.say(gzippedBlock([heartbeatOf(signer)]), seed)
          if (version > 0n && (await voice.say(gzippedBlock([claim]), seed))) tally.count('claims')
          await pause(50, signal)
        }
      })
    },
    async reached({ target }) {
      const block = (await (await fetch(`${target.url}/api/blockchain`)).json()) as {
        readonly Storage: { readonly dns?: Readonly<Record<string, { readonly Owner: string }>> }
      }
      const all = Object.values(block.Storage.dns ?? {})
      const lost = all.filter(({ Owner }) => Owner !== target.id).length
      // so many may be real races with members that claimed first
      return lost <= 32 ? undefined : `${lost} of ${all.length} keys were taken from their owner`
    },
  },
  {
    name: 'future-clocks',
    who: 'member',
    does: 'heartbeats and entries dated an hour ahead, and an hour back, under fresh authors',
    boundedBy: 'MAX_FUTURE_MS, MAX_CLOCK_SAMPLES',
    legacy: {},
    aim: 'members from another hour',
    async run(attack) {
      const { signal, tally } = attack
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        for (let sent = 0; voice.isOpen(); ) {
          const { seed, signer } = createMember()
          const atMs = Date.now() + (sent % 2 === 0 ? HOUR_MS : -HOUR_MS)
          const dated = { version: BigInt(atMs) * 1_000_000n, updatedAt: Math.floor(atMs / 1000) }
          const entries = [
            signEntry(signer, ['healthcheck', signer.peerId, new Date(atMs).toISOString()], dated),
            signEntry(signer, ['notes', 'joined', 'x'], dated),
          ]
          if (!(await voice.say(gzippedBlock(entries), seed))) break
          tally.count('members from another hour')
          if (++sent % 20 === 0) await pause(10, signal)
        }
      })
    },
  },
  {
    name: 'tombstones',
    who: 'member',
    does: 'claims 200 keys of the victim above its own entries, under keys without a heartbeat, over and over',
    boundedBy: 'ANNOUNCES, ANNOUNCE_PAUSE_MS, RETRACTIONS_PER_SECOND',
    legacy: {},
    aim: 'claims',
    async prepare({ target }) {
      for (const key of KEPT_NAMES) await putName(target, key)
    },
    async run(attack) {
      const { signal, tally } = attack
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        while (voice.isOpen()) {
          const { seed, signer } = createMember()
          const claims = KEPT_NAMES.map((key) => signEntry(signer, ['dns', key, { 1: '10.1.0.66' }]))
          if (!(await voice.say(gzippedBlock(claims), seed))) break
          tally.count('claims', claims.length)
          await pause(20, signal)
        }
      })
    },
  },
  {
    name: 'claimed-range',
    who: 'member',
    does: `${SQUATTERS} keys with heartbeats claim all addresses of the range in which leases are taken, over and over`,
    boundedBy: 'MAX_VITAL_SIGNER_ENTRIES, MAX_SHARED_SUBNET_ADDRESSES',
    isApart: true,
    legacy: {},
    aim: 'claims',
    async run(attack) {
      const { signal, tally } = attack
      const squatters = Array.from({ length: SQUATTERS }, createMember)
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        while (voice.isOpen()) {
          for (const [at, { seed, signer }] of squatters.entries()) {
            const own = Array.from({ length: 254 }, (_, n) => n + 1).filter((n) => n % SQUATTERS === at)
            const entries = own.map((n) => {
              const record = { PeerID: signer.peerId, Address: `10.1.0.${n}`, Hostname: 'squatter' }
              return signEntry(signer, ['machines', `10.1.0.${n}`, record])
            })
            if (await voice.say(gzippedBlock([heartbeatOf(signer), ...entries]), seed))
              tally.count('claims', entries.length)
          }
          await pause(200, signal)
        }
      })
    },
    async reached({ target }) {
      const machines = (await (await fetch(`${target.url}/api/ledger/machines`)).json()) as object
      const claimed = Object.keys(machines).filter((key) => key.startsWith('10.1.0.')).length
      return claimed <= 224 ? undefined : `${claimed} of 254 addresses are claimed`
    },
  },
]
