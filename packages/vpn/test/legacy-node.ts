/**
 * A legacy node as far as addresses go, written after docs/WIRE.md: whole blocks (4.9), heartbeat (4.8), and DHCP as it
 * stands in 6.1, with its faults.
 */
import { type Clock, heartbeatValue, parseHeartbeat, type PeerId, type Random } from '@mesh/core'
import { createLedger, encodeBlock, leaderOf, type Ledger, type Signer } from '@mesh/ledger'
import ipaddr from 'ipaddr.js'
import { type SimNetwork, verifySim } from '@mesh/replication/testing'

const SECOND = 1000

export interface LegacyNode {
  readonly id: PeerId
  readonly ledger: Ledger
  readonly address: string | undefined
  readonly tookMs: number | undefined
  stop(): Promise<void>
}

interface Surroundings {
  readonly network: SimNetwork
  readonly clock: Clock
  readonly random: Random
}

/** @param kind `dhcp`: `--dhcp --address 10.1.0.1`; `api`: an API-only node with heartbeats, or a service */
export function startLegacyNode(
  signer: Signer,
  kind: 'dhcp' | 'api',
  surroundings: Surroundings,
): LegacyNode {
  const node = new SimLegacyNode(signer, surroundings)
  node.start(kind)
  return node
}

class SimLegacyNode implements LegacyNode {
  readonly id: PeerId
  readonly ledger: Ledger
  address: string | undefined
  tookMs: number | undefined
  readonly #surroundings: Surroundings
  readonly #link: ReturnType<SimNetwork['join']>
  readonly #begun: number
  #stopped = false

  constructor(signer: Signer, surroundings: Surroundings) {
    const { network, clock } = surroundings
    this.id = signer.peerId
    this.ledger = createLedger({}, { signer, verify: verifySim, clock })
    this.#surroundings = surroundings
    this.#link = network.join(signer.peerId)
    this.#begun = clock.now()
  }

  start(kind: 'dhcp' | 'api'): void {
    const { ledger } = this
    const { clock } = this.#surroundings
    this.#link.topic.onMessage(({ author, plaintext }) => void ledger.receiveBlock(plaintext, author))
    ledger.subscribe((event) => {
      if (event.type === 'committed' && event.changes.some(({ origin }) => origin === 'local')) this.#send()
    })
    const beat = () => this.#put('healthcheck', this.id, JSON.parse(heartbeatValue(clock.now())))
    void this.#tick(120 * SECOND, beat)
    void this.#tick(10 * SECOND, () => this.#send())
    if (kind === 'dhcp') void this.#lease()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#link.unplug()
    await this.ledger.stop()
  }

  async #lease(): Promise<void> {
    const { clock } = this.#surroundings
    while (!this.#stopped) {
      await this.#sleep(5 * SECOND)
      const { nodes, waiting, used, lead } = look(this.ledger, clock.now())
      if (nodes <= 1 || waiting.length === 0) continue
      const should = leaderOf(waiting)
      if (should !== this.id && lead !== this.id) continue
      if (should === this.id && (lead === '' || !waiting.includes(lead))) {
        void this.#persistLeader()
        continue
      }
      if (lead !== this.id) {
        await this.#sleep(5 * SECOND)
        continue
      }
      this.tookMs = clock.now() - this.#begun
      return this.#take(nextIp('10.1.0.1', used))
    }
  }

  #take(address: string): void {
    this.address = address
    const machine = { Hostname: 'legacy', OS: 'linux', Arch: 'amd64', Address: address, Version: '' }
    void this.#tick(10 * SECOND, () => {
      const { owner } = this.ledger.snapshot().getLive('machines', address) ?? {}
      if (owner !== this.id) this.#put('machines', address, { PeerID: this.id, ...machine })
    })
  }

  async #persistLeader(): Promise<void> {
    for (let at = 0; at < 2 && !this.#stopped; at++) {
      this.#put('dhcp', 'leader', this.id)
      await this.#sleep(5 * SECOND * (0.5 + this.#surroundings.random.float()))
    }
  }

  /** Runs at once, then after gaps from 5 s, doubling (docs/WIRE.md 4.9). */
  async #tick(maxMs: number, run: () => void): Promise<void> {
    for (let base = 5 * SECOND; !this.#stopped; base = base >= maxMs / 2 ? maxMs : base * 2) {
      run()
      await this.#sleep(base * (0.5 + this.#surroundings.random.float()))
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#surroundings.clock.after(ms, resolve)
    })
  }

  #put(bucket: string, key: string, value: unknown): void {
    try {
      this.ledger.put(bucket, key, JSON.stringify(value))
    } catch {
      // A legacy node would believe its own write; here it tries again like one that nobody believed.
    }
  }

  #send(): void {
    const snapshot = this.ledger.snapshot()
    void this.#link.topic.publish(encodeBlock(snapshot.entries(), snapshot.head))
  }
}

function look(ledger: Ledger, nowMs: number) {
  const snapshot = ledger.snapshot()
  const live = (bucket: string) => [...snapshot.entries(bucket)].filter(({ entry }) => !entry.deleted)
  const nodes = live('healthcheck').filter(
    ({ entry }) => (parseHeartbeat(entry.value) ?? 0) + 900 * SECOND > nowMs,
  )
  const addressOf = new Map<string, string>()
  for (const { entry } of live('machines')) {
    const { PeerID, Address } = JSON.parse(entry.value) as { PeerID: string; Address: string }
    addressOf.set(PeerID, Address)
  }
  const waiting = nodes.map(({ key }) => key).filter((key) => !addressOf.has(key))
  const leader = snapshot.getLive('dhcp', 'leader')?.value
  return {
    nodes: nodes.length,
    waiting,
    used: [...addressOf.values()],
    lead: leader === undefined ? '' : (JSON.parse(leader) as string),
  }
}

/** The greatest by 16 bytes, plus one. */
function nextIp(first: string, used: readonly string[]): string {
  if (used.length === 0) return first
  const wide = used.map((text) => {
    const ip = ipaddr.parse(text)
    return BigInt(
      `0x${Buffer.from((ip instanceof ipaddr.IPv4 ? ip.toIPv4MappedAddress() : ip).toByteArray()).toString('hex')}`,
    )
  })
  const next = wide.reduce((most, each) => (each > most ? each : most)) + 1n
  const bytes = [...Buffer.from(next.toString(16).padStart(32, '0'), 'hex')]
  const ip = ipaddr.IPv6.parse(ipaddr.fromByteArray(bytes).toString())
  return ip.isIPv4MappedAddress() ? ip.toIPv4Address().toString() : ip.toRFC5952String()
}
