/**
 * A member in a process of its own, so that it can live in a network namespace. Takes its settings as JSON in the
 * first argument, commands as lines on standard input, and answers with JSON lines.
 */
import { createInterface } from 'node:readline'
import {
  type LogFields,
  type Logger,
  parsePeerId,
  silentLogger,
  toError,
  systemClock,
  systemRandom,
} from '@mesh/core'
import { parseToken } from '@mesh/network'
import type { ByteStream } from '@mesh/p2p'
import { createP2pNode, type P2pNodeInit } from '@mesh/p2p/node'
import { multiaddr } from '@multiformats/multiaddr'
import { Mdns } from '../src/discovery/mdns.ts'
import { openMulticast } from '../src/discovery/multicast-sockets.ts'

export interface MemberSettings extends Omit<P2pNodeInit, 'network' | 'identity'> {
  readonly token: string
  /** 32 bytes as hex. */
  readonly seed: string
  /** Answers mDNS by hand and reads nothing: anyone who connects has found it, not the other way round. */
  readonly answersOnly?: boolean
  /** A UDP port that it has routers map. */
  readonly mapsUdp?: number
}

const settings = JSON.parse(process.argv[2] ?? '{}') as MemberSettings
const { token, seed, answersOnly = false, mapsUdp, ...rest } = settings
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)

const report = (message: string, fields?: LogFields) =>
  process.stderr.write(`${performance.now().toFixed(0)} ${message} ${JSON.stringify(fields)}\n`)
const stderrLogger: Logger = {
  debug: (message: string, fields?: LogFields) => report(message, fields),
  info: (message: string, fields?: LogFields) => report(message, fields),
  warn: (message: string, fields?: LogFields) => report(message, fields),
  error: (message: string, fields?: LogFields) => report(message, fields),
  child: () => stderrLogger,
}

const node = await createP2pNode(
  { ...rest, network: parseToken(token), identity: Buffer.from(seed, 'hex') },
  {
    clock: systemClock,
    random: systemRandom,
    logger: process.env['MEMBER_LOG'] === undefined ? silentLogger : stderrLogger,
  },
)
node.topic.onMessage(({ author, plaintext }) => {
  // a replicator does so for whoever signed an entry of the block
  node.topic.noteMember(author)
  say({ heard: Buffer.from(plaintext).toString(), author })
})
node.subscribe((event) => say({ event }))
if (mapsUdp !== undefined) node.mapUdpPort(mapsUdp, (mapped) => say({ mapped }))
const ECHO = '/mesh/test-echo/1'
const echoRules = { from: 'proven', relayed: true, halfClose: true, bulk: true } as const
await node.streams.handle(ECHO, { ...echoRules, maxPerPeer: 10 }, (stream) => {
  stream.onBytes((bytes) => void stream.send(bytes))
  stream.onRemoteEnd(() => stream.end())
})

/** What went there and back, over what, and in how many milliseconds. */
async function echo(peer: string) {
  const since = performance.now()
  const stream: ByteStream = await node.streams.open(parsePeerId(peer), ECHO, echoRules)
  let text = ''
  stream.onBytes((bytes) => {
    text += Buffer.from(bytes).toString()
  })
  stream.send(Buffer.from('hello'))
  stream.end()
  const error = await new Promise<Error | undefined>((resolve) => stream.onEnd(resolve))
  return {
    text,
    transport: stream.transport ?? 'libp2p',
    ms: performance.now() - since,
    error: error?.message,
  }
}

await node.allTransportsReady
if (answersOnly) {
  const multicast = await openMulticast(
    { listen: ['0.0.0.0'], isBlockedIp: () => false, onError: (error) => report(String(error)) },
    { logger: silentLogger },
  )
  new Mdns(
    {
      self: node.self,
      service: parseToken(token).mdns,
      addresses: () => node.addresses().map((address) => multiaddr(address)),
      found: () => {},
    },
    { multicast, clock: systemClock, random: systemRandom, logger: silentLogger },
  ).start()
}
say({ ready: node.self, addresses: node.addresses() })

for await (const line of createInterface({ input: process.stdin })) {
  const [command, argument = ''] = line.split(' ')
  if (command === 'status') {
    say({
      status: {
        addresses: node.addresses(),
        peers: node.peers(),
        discovery: node.discovery(),
        topic: node.topic.peers(),
        connections: process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length,
        refusals: node.refusals(),
      },
    })
  } else if (command === 'publish') {
    say({ published: await node.topic.publish(Buffer.from(argument)) })
  } else if (command === 'echo') {
    say({ echoed: await echo(argument).catch((error: unknown) => ({ error: toError(error).message })) })
  } else {
    break
  }
}
await node.stop()
say({ stopped: true })
