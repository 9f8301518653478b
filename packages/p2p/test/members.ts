/** Members for tests: real libp2p hosts over TCP on loopback with this package's parts, without its discovery. */
import { generateKeyPair } from '@libp2p/crypto/keys'
import { type GossipSub, gossipsub } from '@libp2p/gossipsub'
import { identify, identifyPush } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { peerIdFromString } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { parsePeerId, type PeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { generateNetworkConfig, type NetworkConfig } from '@mesh/network'
import { nativeSealCipher } from '@mesh/network/node'
import { createLibp2p } from 'libp2p'
import { type ChannelService, createChannels } from '../src/channels/channels.ts'
import { gossipsubSettings, maxFrameBytes } from '../src/gossip/gossipsub-settings.ts'
import { GossipTopicService } from '../src/gossip/topic.ts'
import { muxer } from '../src/muxer/index.ts'
import { UNREAD_BYTES } from '../src/muxer/limits.ts'
import { ConnectionChecks } from '../src/libp2p/liveness-checks.ts'
import { HeldBytes } from '../src/libp2p/held-bytes.ts'
import { createMembership, type Membership } from '../src/membership/membership.ts'
import type { P2pEvent } from '../src/p2p-node.ts'
import { createSpokenProtocols } from '../src/peers/spoken-protocols.ts'
import { createRefusals, type Refusals } from '../src/refusals.ts'
import { createByteStreams } from '../src/streams/byte-streams.ts'
import { MemberStreams } from '../src/streams/member-streams.ts'

export type TestHost = Libp2p<{ pubsub: GossipSub }>

export interface TestMember {
  readonly id: PeerId
  readonly libp2p: TestHost
  readonly membership: Membership
  readonly streams: MemberStreams
  readonly channels: ChannelService
  readonly topic: GossipTopicService
  readonly refusals: Refusals
  readonly events: readonly P2pEvent[]
  /** Texts that the topic told, in order. */
  readonly heard: readonly string[]
  say(text: string): Promise<number>
  connect(other: { readonly libp2p: TestHost }): Promise<void>
  stop(): Promise<void>
}

export interface TestNetwork {
  readonly config: NetworkConfig
  /** Another network's configuration makes a stranger. */
  member(config?: NetworkConfig): Promise<TestMember>
  /** A libp2p host with gossip and nothing of ours. */
  stranger(): Promise<TestHost>
  stop(): Promise<void>
}

export function createTestNetwork(options: { readonly intervalS?: number } = {}): TestNetwork {
  const config = generateNetworkConfig(options, systemRandom)
  const stops: (() => Promise<void>)[] = []
  return {
    config,
    async member(own = config) {
      const member = await createMember(own)
      stops.push(member.stop)
      return member
    },
    async stranger() {
      const host = await createHost(config)
      await host.start()
      stops.push(async () => host.stop())
      return host
    },
    async stop() {
      await Promise.all(stops.map((stop) => stop()))
    },
  }
}

async function createHost(config: NetworkConfig): Promise<TestHost> {
  const host = await createLibp2p({
    start: false,
    privateKey: await generateKeyPair('Ed25519'),
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [muxer(systemClock)],
    connectionMonitor: { enabled: false },
    connectionManager: { inboundConnectionThreshold: 1000 },
    services: {
      identify: identify(),
      identifyPush: identifyPush(),
      pubsub: gossipsub(gossipsubSettings(config)),
    },
  })
  return host as TestHost
}

async function createMember(config: NetworkConfig): Promise<TestMember> {
  const libp2p = await createHost(config)
  const id = parsePeerId(libp2p.peerId.toString())
  const events: P2pEvent[] = []
  const heard: string[] = []
  const refusals = createRefusals({ clock: systemClock, emit: (event) => events.push(event) })
  const spoken = createSpokenProtocols({ libp2p })
  const parts = { libp2p, spoken, clock: systemClock, random: systemRandom, refusals, logger: silentLogger }
  const membership = createMembership({ config, self: id }, parts)
  const held = new HeldBytes({
    isMember: (peer) => membership.isMember(peer),
    maxFrameBytes: maxFrameBytes(config),
  })
  const checks = new ConnectionChecks(parts)
  const streams = new MemberStreams({
    ...parts,
    membership,
    checks,
    connect: (peer, signal) => libp2p.dial(peerIdFromString(peer), { signal }),
  })
  const unread = new Scope(UNREAD_BYTES)
  const byteStreams = createByteStreams({
    ...parts,
    streams,
    bulk: () => undefined,
    unread,
    unsent: { bytes: 0 },
  })
  const channels = createChannels({ ...parts, streams: byteStreams, membership, held })
  const topic = new GossipTopicService(
    { config, self: id },
    { ...parts, membership, held, cipher: nativeSealCipher },
  )
  topic.onMessage(({ plaintext }) => heard.push(new TextDecoder().decode(plaintext)))
  await membership.start()
  await topic.start()
  await libp2p.start()
  let stopping: Promise<void> | undefined
  const stop = async () => {
    await topic.stop()
    channels.stop()
    await streams.stop()
    await membership.stop()
    await libp2p.stop()
    spoken.stop()
  }
  return {
    id,
    libp2p,
    membership,
    streams,
    channels,
    topic,
    refusals,
    events,
    heard,
    say: (text) => topic.publish(new TextEncoder().encode(text)),
    connect: async (other) => {
      await libp2p.dial(other.libp2p.getMultiaddrs())
    },
    stop: () => (stopping ??= stop()),
  }
}
