/**
 * What one byte stream carries between two processes, and how long a short message on another stream of the same
 * connection takes meanwhile: `node --conditions=mesh-source packages/p2p/bench/measure-streams.ts [tcp] [SECONDS]`,
 * or `relay`, `webrtc-direct`, `ws`. What else the machine does changes wall times, and processor time for each byte
 * hardly, so both are told.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parsePeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig, parseToken } from '@mesh/network'
import { createP2pNode, type P2pMember } from '../src/node.ts'
import type { ByteStream } from '../src/p2p-node.ts'

const BULK = '/mesh/bench-bulk/1'
const ECHO = '/mesh/bench-echo/1'
const RULES = { from: 'proven', relayed: true } as const
const BLOCK_BYTES = Number(process.env['BLOCK'] ?? 65_536)
/** Code is compiled and windows have grown then. */
const WARM_UP_MS = 1_500
const MESSAGE_BYTES = 100
const MESSAGE_EVERY_MS = 20

const TRANSPORTS: Readonly<Record<string, string>> = {
  tcp: '/ip4/127.0.0.1/tcp/0',
  ws: '/ip4/127.0.0.1/tcp/0/ws',
  'webrtc-direct': '/ip4/127.0.0.1/udp/0/webrtc-direct',
}

/** Milliseconds of a clock that all processes of the machine share. */
const nowMs = () => Number(process.hrtime.bigint()) / 1e6

interface Settings {
  readonly token: string
  readonly transport: string
  readonly bootstrapPeers: readonly string[]
  readonly relay: boolean
}

async function start({ token, transport, bootstrapPeers, relay }: Settings): Promise<P2pMember> {
  const listen = transport === 'relayed' ? [] : [TRANSPORTS['tcp'] ?? '', TRANSPORTS[transport] ?? '']
  const node = await createP2pNode(
    {
      network: parseToken(token),
      identity: systemRandom.bytes(32),
      listen: [...new Set(listen)],
      private: true,
      bootstrapPeers,
      switches: {
        mdns: false,
        dht: false,
        ws: transport === 'ws',
        webrtcDirect: transport === 'webrtc-direct',
        webrtc: false,
        holePunch: false,
        relayService: relay,
        relayClient: transport === 'relayed',
      },
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  await node.allTransportsReady
  return node
}

/** The far process: swallows bulk, answers each message with the time at which it came. */
async function serve(settings: Settings): Promise<void> {
  const node = await start(settings)
  let received = 0
  await node.streams.handle(BULK, { ...RULES, maxPerPeer: 4 }, (stream) => {
    stream.onBytes((bytes) => {
      received += bytes.byteLength
    })
  })
  await node.streams.handle(ECHO, { ...RULES, maxPerPeer: 4 }, (stream) => {
    stream.onBytes(() => stream.send(Buffer.from(String(nowMs()).padEnd(MESSAGE_BYTES))))
  })
  if (settings.transport === 'relayed')
    await until(() => node.addresses().some((text) => text.includes('p2p-circuit')))
  console.log(JSON.stringify({ self: node.self, addresses: node.addresses() }))
  for await (const _line of createInterface({ input: process.stdin })) {
    const { user, system } = process.cpuUsage()
    console.log(JSON.stringify({ received, cpuS: (user + system) / 1e6, rss: process.memoryUsage.rss() }))
  }
  await node.stop()
}

async function until(condition: () => boolean): Promise<void> {
  const last = nowMs() + 20_000
  while (!condition()) {
    if (nowMs() > last) throw new Error('not in time')
    await sleep(20)
  }
}

function spawnNode(settings: Settings) {
  const flags = process.env['FAR_FLAGS']?.split(' ') ?? []
  const child = spawn(
    process.execPath,
    ['--conditions=mesh-source', ...flags, import.meta.filename, 'serve', JSON.stringify(settings)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>
  return {
    next,
    ask: () => {
      child.stdin.write('ask\n')
      return next()
    },
    end: () => child.stdin.end(),
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2))
}

/** Messages until told to stop; how long each took to get there and back, in milliseconds. */
function startMessages(stream: ByteStream) {
  const there: number[] = []
  const back: number[] = []
  let sentAt = 0
  let open = true
  stream.onBytes((bytes) => {
    const arrived = Number(Buffer.from(bytes).toString())
    there.push(arrived - sentAt)
    back.push(nowMs() - sentAt)
    setTimeout(send, MESSAGE_EVERY_MS)
  })
  const send = () => {
    if (!open) return
    sentAt = nowMs()
    stream.send(new Uint8Array(MESSAGE_BYTES))
  }
  send()
  return () => {
    open = false
    return {
      messages: there.length,
      oneWayMs: { p50: percentile(there, 0.5), p95: percentile(there, 0.95), max: percentile(there, 1) },
      roundTripMs: { p50: percentile(back, 0.5), p95: percentile(back, 0.95) },
    }
  }
}

/** Starts a node of this process and one of another, and the relay between them where there is one. */
async function connectTwo(way: string) {
  const token = encodeToken(generateNetworkConfig({}, systemRandom))
  const common = { token, relay: false, bootstrapPeers: [] }
  const relay = way === 'relay' ? spawnNode({ ...common, transport: 'tcp', relay: true }) : undefined
  const relayAddresses = relay === undefined ? [] : ((await relay.next())['addresses'] as string[])
  const transport = way === 'relay' ? 'relayed' : way
  const far = spawnNode({ ...common, transport, bootstrapPeers: relayAddresses })
  const { self, addresses } = (await far.next()) as unknown as { self: string; addresses: string[] }
  const wanted = (address: string) =>
    way === 'relay'
      ? address.includes('p2p-circuit')
      : address.includes(`/${way}/`) && (way !== 'tcp' || !address.includes('/ws/'))
  const near = await start({
    ...common,
    transport: way === 'relay' ? 'tcp' : way,
    bootstrapPeers: addresses.filter(wanted),
  })
  const peer = parsePeerId(self)
  await until(() => near.peer(peer)?.member === true)
  return { near, far, relay, peer }
}

async function measure(way: string, seconds: number): Promise<void> {
  const { near, far, relay, peer } = await connectTwo(way)
  const echo = await near.streams.open(peer, ECHO, RULES)
  const quiet = startMessages(echo)
  await sleep(500)
  const quietResult = quiet()
  await sleep(100)

  const bulk = await near.streams.open(peer, BULK, RULES)
  let ended: Error | undefined
  bulk.onEnd((error) => {
    ended = error ?? new Error('ended')
  })
  const block = new Uint8Array(BLOCK_BYTES)
  let sending = true
  const pump = () => {
    while (sending && bulk.send(block)) {
      // until it says stop
    }
  }
  bulk.onDrain(pump)
  pump()
  await sleep(WARM_UP_MS)
  const before = await far.ask()
  const cpuBefore = process.cpuUsage()
  const startedAt = nowMs()
  // one that was opened later: libp2p lets the streams of a connection go on in the order of their opening
  const messages = startMessages(await near.streams.open(peer, ECHO, RULES))
  let rss = 0
  for (let spent = 0; spent < seconds; spent += 0.25) {
    await sleep(250)
    rss = Math.max(rss, process.memoryUsage.rss())
  }
  sending = false
  const after = await far.ask()
  const wallS = (nowMs() - startedAt) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  const nearCpuS = (cpu.user + cpu.system) / 1e6
  const farCpuS = Number(after['cpuS']) - Number(before['cpuS'])
  const bits = (Number(after['received']) - Number(before['received'])) * 8
  console.log(
    JSON.stringify(
      {
        way,
        path: near.peer(peer)?.transport,
        gbitPerS: Number((bits / 1e9 / wallS).toFixed(3)),
        gbitPerProcessorS: {
          near: Number((bits / 1e9 / nearCpuS).toFixed(3)),
          far: Number((bits / 1e9 / farCpuS).toFixed(3)),
        },
        whileBulk: messages(),
        quiet: quietResult,
        rssMb: { near: Math.round(rss / 2 ** 20), far: Math.round(Number(after['rss']) / 2 ** 20) },
        ...(ended === undefined ? {} : { ended: String(ended) }),
      },
      undefined,
      1,
    ),
  )
  bulk.abort(new Error('measured'))
  far.end()
  relay?.end()
  await near.stop()
}

const [first = 'tcp', second = '5'] = process.argv.slice(2)
if (first === 'serve') await serve(JSON.parse(second) as Settings)
else await measure(first, Number(second))
