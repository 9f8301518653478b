/**
 * A node of the kind before ours, as far as addresses go, written after docs/WIRE.md: whole blocks (4.9),
 * heartbeat (4.8), and DHCP as it stands in 6.1, with its faults.
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
  { network, clock, random }: Surroundings,
): LegacyNode {
  const ledger = createLedger({}, { signer, verify: verifySim, clock })
  const link = network.join(signer.peerId)
  const self = signer.peerId
  const begun = clock.now()
  const node = { address: undefined as string | undefined, tookMs: undefined as number | undefined }
  let stopped = false
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      clock.after(ms, resolve)
    })
  /** 4.9: at once, then gaps from 5 s, doubling. */
  const tick = async (maxMs: number, run: () => void) => {
    for (let base = 5 * SECOND; !stopped; base = base >= maxMs / 2 ? maxMs : base * 2) {
      run()
      await sleep(base * (0.5 + random.float()))
    }
  }
  const put = (bucket: string, key: string, value: unknown) => {
    try {
      ledger.put(bucket, key, JSON.stringify(value))
    } catch {
      // An original would believe its own write; here it tries again like one that nobody believed.
    }
  }
  const send = () => {
    const snapshot = ledger.snapshot()
    void link.topic.publish(encodeBlock(snapshot.entries(), snapshot.head))
  }
  link.topic.onMessage(({ author, plaintext }) => void ledger.receiveBlock(plaintext, author))
  ledger.subscribe((event) => {
    if (event.type === 'committed' && event.changes.some(({ origin }) => origin === 'local')) send()
  })
  const persistLeader = async () => {
    for (let at = 0; at < 2 && !stopped; at++) {
      put('dhcp', 'leader', self)
      await sleep(5 * SECOND * (0.5 + random.float()))
    }
  }
  const dhcp = async () => {
    while (!stopped) {
      await sleep(5 * SECOND)
      const { nodes, waiting, used, lead } = look(ledger, clock.now())
      if (nodes <= 1 || waiting.length === 0) continue
      const should = leaderOf(waiting)
      if (should !== self && lead !== self) continue
      if (should === self && (lead === '' || !waiting.includes(lead))) {
        void persistLeader()
        continue
      }
      if (lead !== self) {
        await sleep(5 * SECOND)
        continue
      }
      node.address = nextIp('10.1.0.1', used)
      node.tookMs = clock.now() - begun
      const record = {
        PeerID: self,
        Hostname: 'legacy',
        OS: 'linux',
        Arch: 'amd64',
        Address: node.address,
        Version: '',
      }
      void tick(10 * SECOND, () => {
        const address = node.address ?? ''
        if (ledger.snapshot().getLive('machines', address)?.owner !== self) put('machines', address, record)
      })
      return
    }
  }
  void tick(120 * SECOND, () => put('healthcheck', self, JSON.parse(heartbeatValue(clock.now()))))
  void tick(10 * SECOND, send)
  if (kind === 'dhcp') void dhcp()
  return {
    id: self,
    ledger,
    get address() {
      return node.address
    },
    get tookMs() {
      return node.tookMs
    },
    async stop() {
      stopped = true
      link.unplug()
      await ledger.stop()
    },
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
