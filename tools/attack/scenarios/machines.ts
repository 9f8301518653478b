/** An attack by as many machines, of as many keys, as a ledger takes: what each change, question and list is made from. */
import { createSocket } from 'node:dgram'
import type { KeyedEntry } from '@mesh/ledger'
import { overAndOver } from '../attackers.ts'
import { gzippedBlock, signEntry } from '../gossip.ts'
import { writeHistory } from '../history.ts'
import { type Probe, startProbe } from '../probe.ts'
import { type Attack, type Scenario, SUITE_BOUNDS } from '../scenario.ts'
import { pause, untilTrue } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice, sayEntries, untilHeld } from '../voice.ts'
import { question } from './dns.ts'

/** Keys that have machines, and how many machines and networks each has: one heartbeat more, and the ledger keeps no more of a key. */
const [HOLDERS, MACHINES, NETWORKS] = [400, 47, 20]
const [VICTIM_DNS, NEWCOMER_DNS] = [47_938, 47_939]
const dnsArgs = (port: number) => [`--dns=127.0.0.1:${port}`, '--no-dns-forwarder']
/** The lists that are asked for meanwhile. */
const LISTS = ['machines?limit=100', 'nodes?limit=100', 'peers', 'summary', 'vpn', 'dns/server']
const A = 1
/** How long the newcomer may take to start, in ms. */
const START_MS = 30_000
/** How long the newcomer may take until it has all of the ledger, in ms. */
const COPIED_WITHIN_MS = 60_000

type Member = ReturnType<typeof createMember>

/** Of each /24 half: where more are claimed, members keep fewer. */
const addressAt = (at: number) => `10.${64 + (at >> 15)}.${(at >> 7) & 255}.${1 + (at & 127)}`
const networkAt = (at: number) => `172.${16 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}/32`

function machineOf({ signer }: Member, at: number): KeyedEntry {
  const machine = { PeerID: signer.peerId, Address: addressAt(at), Hostname: `machine-${at}` }
  return signEntry(signer, ['machines', addressAt(at), machine])
}

function entriesOf(holder: number): readonly KeyedEntry[] {
  const member = createMember()
  const { signer } = member
  const machines = Array.from({ length: MACHINES }, (_, n) => machineOf(member, holder * MACHINES + n))
  const routes = Array.from({ length: NETWORKS }, (_, n) =>
    signEntry(signer, ['routes', networkAt(holder * NETWORKS + n), { PeerID: signer.peerId, Metric: 0 }]),
  )
  return [heartbeatOf(signer), ...machines, ...routes]
}

async function writeMachines(folder: string): Promise<void> {
  const entries = Array.from({ length: HOLDERS }, (_, holder) => entriesOf(holder)).flat()
  await writeHistory(folder, [{ atMs: Date.now(), entries }])
}

async function sayMachines(attack: Attack): Promise<void> {
  const voice = await openVoice(attack)
  const { seed } = createMember()
  const entries = Array.from({ length: HOLDERS }, (_, holder) => entriesOf(holder)).flat()
  await sayEntries(voice, seed, entries)
  await untilHeld(attack, 'machines', encodeURIComponent(addressAt(HOLDERS * MACHINES - 1)))
}

/** A newcomer takes all of it while it is watched. */
interface Newcomer {
  readonly url: string
  readonly watching: Probe
}
const newcomers = new WeakMap<Attack, Newcomer>()

async function comeNew(attack: Attack): Promise<void> {
  // a legacy node has no such flags
  if (attack.target.kind === 'legacy') return
  const newcomer = await attack.join?.(dnsArgs(NEWCOMER_DNS))
  if (newcomer === undefined) return
  const { pid, url, healthUrl } = newcomer
  // its own start, which loads its code, is no matter of the ledger: DNS stands last of all
  await untilTrue(START_MS, async () => {
    const answer = await fetch(`${url}/api/dns/server`)
    return (
      answer.ok && ((await answer.json()) as { readonly Listening: readonly unknown[] }).Listening.length > 0
    )
  })
  newcomers.set(attack, { url, watching: startProbe({ pid, healthUrl, victimUrl: url }) })
}

/** A machine of a key that nobody knew, ten times a second. */
async function comeAndCome(attack: Attack): Promise<void> {
  const { tally, signal } = attack
  let at = HOLDERS * MACHINES
  await overAndOver(attack, async () => {
    const voice = await openVoice(attack)
    while (voice.isOpen()) {
      const member = createMember()
      const block = gzippedBlock([heartbeatOf(member.signer), machineOf(member, at++)])
      if (!(await voice.say(block, member.seed))) break
      tally.count('machines')
      await pause(100, signal)
    }
  })
}

/** Asks for names and lists, as programs of the machine do. */
async function askMeanwhile(attack: Attack): Promise<void> {
  const { tally, signal, target } = attack
  const socket = createSocket('udp4')
  const newcomer = () => newcomers.get(attack)?.url
  for (let at = 0; !signal.aborted; at++) {
    for (const port of [VICTIM_DNS, NEWCOMER_DNS])
      socket.send(question(`machine-${at}.mesh`, A), port, '127.0.0.1')
    for (const url of [target.url, newcomer()]) {
      if (url === undefined) continue
      const answer = await fetch(`${url}/api/${LISTS[at % LISTS.length]}`).catch(() => undefined)
      await answer?.text().catch(() => undefined)
      if (answer?.ok === true) tally.count('lists')
    }
    await pause(100, signal)
  }
  socket.close()
}

export const MACHINE_ATTACKS: readonly Scenario[] = [
  {
    name: 'many-machines',
    who: 'member',
    does: `${HOLDERS} keys have ${MACHINES} machines and ${NETWORKS} networks each, and one more key comes ten times a second, while a newcomer joins and programs ask for names and lists`,
    boundedBy: 'entries are read in turns: the loop budget, the loop budget; MAX_TABLE_ADDRESSES',
    legacy: {},
    isApart: true,
    hasVpn: true,
    needs: ['--address=10.127.255.1/10'],
    victimArgs: ['--accept-routes', ...dnsArgs(VICTIM_DNS)],
    aim: 'machines',
    prepareLedger: writeMachines,
    // a legacy node keeps no ledger
    async prepare(attack) {
      if (attack.target.kind === 'legacy') await sayMachines(attack)
    },
    async run(attack) {
      await Promise.all([comeNew(attack), comeAndCome(attack), askMeanwhile(attack)])
    },
    async reached(attack) {
      if (attack.target.kind === 'legacy') return undefined
      const newcomer = newcomers.get(attack)
      if (newcomer === undefined) return 'nobody could join'
      const hasAll = async () => {
        const answer = await fetch(`${newcomer.url}/api/summary`)
        return ((await answer.json()) as { readonly Machines: number }).Machines >= HOLDERS
      }
      const isCopied = await untilTrue(COPIED_WITHIN_MS, hasAll).catch(() => false)
      const { ownHealthMs } = await newcomer.watching.finish()
      if (!isCopied) return 'the newcomer did not get the ledger'
      const ownMs = Math.round(ownHealthMs)
      attack.tally.count("ms of the newcomer's own", ownMs)
      return ownMs > SUITE_BOUNDS.healthMs ? `the newcomer's health took ${ownMs} ms of its own` : undefined
    },
  },
]
