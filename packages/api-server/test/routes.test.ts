/** Every route of the contract, from the typed client through the server and back, over TCP and a unix socket. */
import { heartbeatValue } from '@mesh/core'
import { MAX_UPLOAD_PIECE_BYTES, type RouteId, routes, type SignedEntryView } from '@mesh/api-contract'
import { ApiError } from '@mesh/api-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFakeAccess } from './fake-access.ts'
import { createFakeOffers } from './fake-offers.ts'
import { createFakeRules, endpoint, RULES, RULES_CHECK } from './fake-rules.ts'
import {
  ADDED,
  CHECK,
  fakeMachine,
  fakeVpn,
  LOG_LINE,
  PEER,
  SETTING,
  startTestNode,
  STATS,
  type TestNode,
} from './fixture.ts'

interface World {
  readonly node: TestNode
  readonly client: TestNode['client']
  /** A bucket of this case's own. */
  readonly bucket: string
}

const stats = { TotalIn: 5462, TotalOut: 95_348, RateIn: 0, RateOut: 4808.5 }
const OFFERED = {
  OpenConnections: 1,
  Connections: 2,
  BytesIn: 30,
  BytesOut: 40,
  LastError: null,
  Kept: true,
}
const self = ({ node }: World) => node.ledger.self
const put = ({ client, bucket }: World, key: string, body: unknown) =>
  client.putJson({ bucket, key, body, wait: '5s' })

/** Asks as the node's own user does. */
async function download({ control }: TestNode, name: string, destination: string) {
  const { client, close } = await control()
  try {
    return await client.putNodeDownload({ name, body: { Destination: destination } })
  } finally {
    await close()
  }
}

/** A route without a case does not compile. */
const cases: { readonly [Id in RouteId]: (world: World) => Promise<void> } = {
  async getSummary(world) {
    const summary = await world.client.getSummary()
    expect(summary).toMatchObject({ OnChainNodes: 1, Peers: 2, NodeID: self(world) })
    expect(summary.BlockChain).toBe(world.node.ledger.snapshot().head.index)
  },
  async listUsers(world) {
    const record = { PeerID: self(world), Timestamp: '2026-01-01T00:00:00Z' }
    await world.client.putJson({ bucket: 'users', key: self(world), body: record, wait: '5s' })
    expect(await world.client.listUsers()).toEqual([record])
  },
  async listServices(world) {
    const record = { PeerID: self(world), Name: 'web' }
    await world.client.putJson({ bucket: 'services', key: 'web', body: { ...record, Extra: 1 }, wait: '5s' })
    expect(await world.client.listServices()).toMatchObject([record])
    const key = `services web ${self(world)}`
    await world.client.putJson({ bucket: 'providers', key, body: record, wait: '5s' })
    await world.node.ledger.put('healthcheck', self(world), heartbeatValue(Date.now())).settled
    expect(await world.client.listServices()).toEqual([{ ...record, Providers: [self(world)] }])
  },
  async listFiles(world) {
    const record = { PeerID: self(world), Name: 'f1' }
    await world.client.putJson({ bucket: 'files', key: 'f1', body: record, wait: '5s' })
    expect(await world.client.listFiles()).toEqual([record])
  },
  async listMachines(world) {
    const record = {
      PeerID: self(world),
      Hostname: 'nas',
      OS: 'linux',
      Arch: 'amd64',
      Address: '10.1.0.11',
      Version: '0.1.0',
    }
    await world.client.putJson({ bucket: 'machines', key: '10.1.0.11', body: record, wait: '5s' })
    expect(await world.client.listMachines()).toEqual([
      { ...record, Addresses: ['10.1.0.11'], Connected: true, OnChain: true, Online: true },
    ])
  },
  async listNodes(world) {
    expect(await world.client.listNodes()).toEqual(
      [self(world), PEER].sort().map((ID) => ({ ID, Online: true })),
    )
  },
  async listPeerstore(world) {
    expect(await world.client.listPeerstore()).toEqual(
      [self(world), PEER].sort().map((ID) => ({ ID, Online: true })),
    )
  },
  async listPeers({ client }) {
    expect(await client.listPeers()).toEqual([
      {
        ID: PEER,
        Name: '',
        Connected: true,
        Member: true,
        Path: 'direct',
        Relay: null,
        FoundBy: ['mdns', 'incoming'],
        Transport: 'tcp',
        Addresses: ['/ip4/127.0.0.1/tcp/4001'],
        RoundTripMs: 4,
        LastSeen: '2026-01-01T00:00:00.000Z',
        LastError: null,
        Reach: 'direct by tcp for 5 s, dialled by the peer',
        Agent: 'mesh/0.1.0',
        UDP: { State: 'none', Reason: 'blocked', Endpoint: null, RoundTripMs: null },
        ...stats,
      },
    ])
  },
  async pingPeer({ client }) {
    const answer = {
      PeerID: PEER,
      Name: '',
      Member: true,
      Path: 'direct',
      Transport: 'tcp',
      RoundTripMs: 1.5,
    }
    expect(await client.pingPeer({ peer: PEER })).toEqual(answer)
    expect(await failure(client.pingPeer({ peer: 'nobody' }))).toMatchObject({
      code: 'peer.unknown',
      status: 404,
    })
  },
  async getVpn({ client }) {
    const { Peers, Drops, Ignored, Refusals, ...view } = await client.getVpn()
    expect(view).toEqual({
      State: 'running',
      Interface: 'mesh0',
      MTU: 1280,
      Offload: true,
      Addresses: ['10.1.0.11/24'],
      Routes: {
        Advertised: ['192.168.7.0/24'],
        Own: [],
        Accepted: [{ CIDR: '192.168.8.0/24', PeerID: PEER, Metric: 10, InKernel: true, Standby: [] }],
      },
      ExitNode: {
        Wanted: 'nas',
        PeerID: PEER,
        Hostname: 'nas',
        State: 'up',
        Families: ['ipv4'],
        Standby: [],
      },
      OffersExit: null,
    })
    expect({ ...Drops }).toEqual({ noRoute: 5, multicast: 1, spoofedSource: 4 })
    expect([{ ...Ignored }, { ...Refusals }]).toEqual([{ ownerDead: 2 }, {}])
    expect(Peers.map((peer) => ({ ...peer, Drops: { ...peer.Drops } }))).toEqual([
      {
        PeerID: PEER,
        Hostname: 'nas',
        Addresses: ['10.1.0.12', 'fd00::12'],
        Routes: ['192.168.8.0/24'],
        OffersExit: ['ipv4'],
        Way: 'sealed',
        Path: 'direct',
        Transport: 'tcp',
        RoundTripMs: 4,
        UDP: { State: 'none', Reason: 'blocked', Endpoint: null, RoundTripMs: null },
        MTU: 1280,
        Since: '2026-01-01T00:00:00.000Z',
        PacketsIn: 3,
        PacketsOut: 2,
        BytesIn: 300,
        BytesOut: 200,
        Drops: { spoofedSource: 4 },
      },
    ])
  },
  async pingMachine({ client }) {
    const answer = {
      PeerID: PEER,
      Hostname: 'nas',
      Way: 'sealed',
      Path: 'direct',
      Transport: 'tcp',
      RoundTripMs: 1.5,
      MTU: 1280,
      UDP: {
        State: 'direct',
        Reason: null,
        Endpoint: '[fd12::2]:4711',
        RoundTripMs: 1.5,
        Candidates: [
          {
            Endpoint: '[fd12::2]:4711',
            Kind: 'own',
            Answered: true,
            Heard: true,
            RoundTripMs: 1.5,
            MTU: 1280,
          },
        ],
      },
    }
    for (const [machine, Address] of [
      ['10.1.0.12', '10.1.0.12'],
      ['fd00:0:0::12', 'fd00::12'],
      ['NAS', '10.1.0.12'],
      [PEER, '10.1.0.12'],
    ] as const) {
      expect(await client.pingMachine({ machine })).toEqual({ ...answer, Address })
    }
    expect(await failure(client.pingMachine({ machine: 'nobody' }))).toMatchObject({
      code: 'vpn.unknown_machine',
      status: 404,
    })
  },
  async createGuest({ client, bucket }) {
    const body = { Name: bucket, Endpoint: 'vpn.example.org' }
    expect(await client.createGuest({ body })).toEqual({
      Name: bucket,
      Address: '10.1.0.20',
      Address6: null,
      PublicKey: 'cHVibGlj',
      Endpoint: 'vpn.example.org',
      Configuration: '[Interface]',
    })
    expect(await failure(client.createGuest({ body }))).toMatchObject({
      code: 'vpn.guest_exists',
      status: 409,
    })
  },
  async listGuests({ client, bucket }) {
    await client.createGuest({ body: { Name: bucket, FullTunnel: true } })
    expect(await client.listGuests()).toContainEqual({
      Name: bucket,
      Address: '10.1.0.20',
      Address6: null,
      PublicKey: 'cHVibGlj',
      AddedAt: '1970-01-01T00:00:00.000Z',
      FullTunnel: true,
      NodeEndpoint: '192.0.2.7:51820',
      NodeMoved: false,
      Handshake: null,
      Endpoint: null,
      PacketsIn: 3,
      PacketsOut: 2,
      BytesIn: 300,
      BytesOut: 200,
    })
  },
  async deleteGuest({ client, bucket }) {
    await client.createGuest({ body: { Name: bucket } })
    expect(await client.deleteGuest({ name: bucket })).toEqual({ State: 'Removed' })
    expect(await failure(client.deleteGuest({ name: bucket }))).toMatchObject({
      code: 'vpn.unknown_guest',
      status: 404,
    })
  },
  async putExitNode({ client }) {
    const { ExitNode } = await client.putExitNode({ body: { Exit: 'gate' } })
    expect(ExitNode).toEqual({
      Wanted: 'gate',
      PeerID: null,
      Hostname: '',
      State: 'searching',
      Families: [],
      Standby: [],
    })
    expect(await failure(client.putExitNode({ body: { Exit: 'unmarked' } }))).toMatchObject({
      code: 'exit.no_mark',
      status: 409,
    })
    await client.putExitNode({ body: { Exit: 'nas' } })
  },
  async deleteExitNode({ client }) {
    expect(await client.deleteExitNode()).toEqual({ State: 'Removed' })
    expect((await client.getVpn()).ExitNode).toBeNull()
    await client.putExitNode({ body: { Exit: 'nas' } })
  },
  async listDns(world) {
    await world.client.createDns({ body: { Regex: '^a$', Records: { A: '10.1.0.11' } }, wait: '5s' })
    const listed = await world.client.listDns()
    expect(listed.map(({ Regex, Records }) => ({ Regex, Records: { ...Records } }))).toContainEqual({
      Regex: '^a$',
      Records: { A: '10.1.0.11' },
    })
  },
  async createDns({ client, node }) {
    const body = { Regex: '^b\\.vpn\\.$', Records: { aaaa: 'fd00::1', TYPE65280: 'x' } }
    expect(await client.createDns({ body, wait: '5s' })).toMatchObject({ State: 'Committed' })
    const stored = node.ledger.snapshot().getLive('dns', body.Regex)?.value
    expect(stored).toBe('{"28":"fd00::1","65280":"x"}')
  },
  async getDnsServer({ client }) {
    const { Queries, ...server } = await client.getDnsServer()
    expect({ ...Queries }).toEqual({ answered: 3 })
    expect(server).toEqual({
      Zone: 'mesh.',
      Listening: ['[::1]:5353'],
      Names: 4,
      Patterns: 2,
      Cached: 1,
      Forwarders: [{ Server: '192.0.2.53:53', Domain: '.', LastError: 'no answer in time' }],
    })
  },
  async resolveName({ client }) {
    expect(await client.resolveName({ name: 'laptop.mesh.', type: 'aaaa' })).toEqual({
      Name: 'laptop.mesh.',
      Type: 'AAAA',
      Code: 'NOERROR',
      Records: [{ Name: 'laptop.mesh.', Type: 'AAAA', TTL: 30, Value: '10.1.0.5' }],
      Source: 'machine',
      Winner: { Name: 'laptop.mesh.', Owner: PEER },
      Losers: [{ Name: 'lap', Owner: PEER, Reason: 'automatic_name' }],
      Servers: [],
    })
    expect(await client.resolveName({ name: 'x.org' })).toMatchObject({
      Type: 'A',
      Code: null,
      Winner: null,
      Servers: ['192.0.2.53:53'],
    })
    expect(await failure(client.resolveName({ name: 'a..b' }))).toMatchObject({ code: 'http.bad_path' })
    expect(await failure(client.resolveName({ name: 'a', type: 'NOPE' }))).toMatchObject({
      code: 'http.bad_query',
    })
  },
  async getBlock(world) {
    await put(world, '__proto__', 1)
    const block = await world.client.getBlock()
    const { index, hash, prevHash, timestamp } = world.node.ledger.snapshot().head
    expect(block).toMatchObject({ Index: index, Hash: hash, PrevHash: prevHash, Timestamp: timestamp })
    expect(block.Storage[world.bucket]?.['__proto__']).toMatchObject({ Value: '1', Owner: self(world) })
  },
  async getSignedEntry(world) {
    await put(world, 'k', { a: 1 })
    await world.client.deleteEntry({ bucket: world.bucket, key: 'k', wait: '5s' })
    const entry: SignedEntryView = await world.client.getSignedEntry({ bucket: world.bucket, key: 'k' })
    const stored = world.node.ledger.snapshot().get(world.bucket, 'k')
    expect(entry).toEqual({
      Value: '',
      Owner: self(world),
      Version: stored?.version,
      UpdatedAt: stored?.updatedAt,
      Deleted: true,
      Sig: Buffer.from(stored?.sig ?? []).toString('base64'),
    })
    expect(entry.Version).toBeGreaterThan(2n ** 53n)
    expect(await failure(world.client.getSignedEntry({ bucket: world.bucket, key: 'none' }))).toMatchObject({
      code: 'ledger.not_found',
      status: 404,
    })
  },
  async listBlocks(world) {
    await put(world, 'k', 1)
    const { index, hash, prevHash, timestamp } = world.node.ledger.snapshot().head
    const { Head, First, Blocks } = await world.client.listBlocks({ last: '1' })
    expect(Blocks).toEqual([
      {
        Index: index,
        Timestamp: timestamp,
        Hash: hash,
        PrevHash: prevHash,
        Changes: 1,
        Buckets: [world.bucket],
      },
    ])
    expect([Head, First]).toEqual([index, 1])
    const { Blocks: earlier } = await world.client.listBlocks({ before: String(index) })
    expect(earlier.map(({ Index }) => Index)).toEqual(
      Array.from({ length: index - 1 }, (_, at) => index - 1 - at),
    )
    expect(await failure(world.client.listBlocks({ last: 'all' }))).toMatchObject({ code: 'http.bad_query' })
  },
  async getKeptBlock(world) {
    const { client, bucket } = world
    await put(world, 'k', { a: 1 })
    const before = await client.getSignedEntry({ bucket, key: 'k' })
    await client.deleteEntry({ bucket, key: 'k', wait: '5s' })
    const { index, hash } = world.node.ledger.snapshot().head
    const block = await client.getKeptBlock({ index: String(index) })
    expect(block).toMatchObject({ Index: index, Hash: hash, Changes: 1, Buckets: [bucket], More: 0 })
    expect(block.Changed).toEqual([
      {
        Bucket: bucket,
        Key: 'k',
        Before: before,
        After: await client.getSignedEntry({ bucket, key: 'k' }),
      },
    ])
    expect(await failure(client.getKeptBlock({ index: String(index + 1) }))).toMatchObject({
      code: 'ledger.no_block',
      status: 404,
    })
  },
  async getDigest(world) {
    await put(world, 'k', 1)
    const { entries, digest, buckets } = world.node.ledger.snapshot().digest()
    const view = await world.client.getDigest()
    expect({ ...view, Buckets: { ...view.Buckets } }).toEqual({
      Entries: entries,
      Digest: digest,
      Buckets: buckets,
    })
  },
  async getLedger(world) {
    await put(world, 'k', { a: [1, null] })
    expect((await world.client.getLedger())[world.bucket]?.['k']).toEqual({ a: [1, null] })
    expect((await world.client.getLedger({ values: 'text' }))[world.bucket]?.['k']).toBe('{"a":[1,null]}')
  },
  async getBucket(world) {
    const read = async () => ({ ...(await world.client.getBucket({ bucket: world.bucket })) })
    expect(await read()).toEqual({})
    await put(world, 'constructor', 'x')
    await put(world, 'deleted', 'x')
    await world.client.deleteEntry({ bucket: world.bucket, key: 'deleted', wait: '5s' })
    expect(await read()).toEqual({ constructor: 'x' })
  },
  async getEntry(world) {
    await put(world, 'k', 1795228706793270807n)
    expect(await world.client.getEntry({ bucket: world.bucket, key: 'k' })).toBe(1795228706793270807n)
    expect(await failure(world.client.getEntry({ bucket: world.bucket, key: 'none' }))).toMatchObject({
      code: 'ledger.not_found',
      status: 404,
    })
  },
  async putText({ client, bucket }) {
    const key = '^[a-z]+\\.(é|/)$%2F'
    const value = 'a/b//c?d=e#f g%00'
    expect(await client.putText({ bucket, key, value, wait: '5s' })).toMatchObject({ State: 'Committed' })
    expect(await client.getEntry({ bucket, key })).toBe(value)
    expect(await client.putText({ bucket, key, value: 'next' })).toEqual({ State: 'Announcing' })
  },
  async putJson(world) {
    const values = [null, true, 1.5, 'text', [], { nested: { deep: [1] } }]
    for (const value of values) {
      await put(world, 'k', value)
      expect(await world.client.getEntry({ bucket: world.bucket, key: 'k' })).toEqual(value)
    }
  },
  async deleteEntry(world) {
    await put(world, 'k', 1)
    const deletion = { bucket: world.bucket, key: 'k', wait: '5s' }
    expect(await world.client.deleteEntry(deletion)).toMatchObject({ State: 'Committed' })
    expect(await failure(world.client.getEntry(deletion))).toMatchObject({ status: 404 })
    expect(await world.client.deleteEntry({ bucket: world.bucket, key: 'k' })).toEqual({
      State: 'Announcing',
    })
  },
  async deleteBucket(world) {
    await Promise.all(['a', 'b', 'c'].map((key) => put(world, key, 1)))
    const { bucket } = world
    expect(await world.client.deleteBucket({ bucket, wait: '5s' })).toMatchObject({ State: 'Committed' })
    expect({ ...(await world.client.getBucket({ bucket })) }).toEqual({})
    expect(await world.client.deleteBucket({ bucket })).toEqual({ State: 'Announcing' })
  },
  async readLog({ client }) {
    expect(await client.readLog()).toEqual({ Lines: [LOG_LINE], Next: 7 })
    expect(await client.readLog({ after: '7' })).toEqual({ Lines: [], Next: 7 })
  },
  async runDoctor({ client }) {
    expect(await client.runDoctor()).toEqual([CHECK])
  },
  async listSettings({ client }) {
    expect(await client.listSettings()).toEqual([SETTING])
  },
  async getTrafficHistory({ client }) {
    const drop = (Reason: string, Total: number) => ({ Reason, Dropped: [], Total })
    const { Until, ...view } = await client.getTrafficHistory({ last: '6' })
    // on a slow machine a step has passed
    const steps = view.In.map(() => 0)
    expect(view).toEqual({
      StepSeconds: 10,
      In: steps,
      Out: steps,
      Peers: [],
      Protocols: [],
      Vpn: {
        In: steps,
        Out: steps,
        Drops: [drop('noRoute', 5), drop('multicast', 1), drop('spoofedSource', 4)].map((each) => ({
          ...each,
          Dropped: steps,
        })),
      },
    })
    expect(Math.abs(Date.now() - Date.parse(Until))).toBeLessThan(600_000)
  },
  async listPaths({ client }) {
    expect(await client.listPaths()).toEqual([
      {
        PeerID: PEER,
        State: 'told',
        AgeMs: 1_500,
        Paths: [{ PeerID: ADDED, Path: 'relayed', Relay: PEER, RoundTripMs: null, BytesPerSecond: 5 }],
        More: 2,
      },
      { PeerID: ADDED, State: 'silent', AgeMs: null, Paths: [], More: 0 },
    ])
  },
  async addPeer({ node, client }) {
    const Address = `/ip4/192.0.2.7/tcp/4001/p2p/${ADDED}`
    const answer = {
      PeerID: ADDED,
      Name: '',
      Member: false,
      Path: 'direct',
      Transport: 'tcp',
      RoundTripMs: 1.5,
    }
    expect(await client.addPeer({ body: { Address } })).toEqual(answer)
    expect(await failure(client.addPeer({ body: { Address: 'nonsense' } }))).toMatchObject({
      code: 'peer.bad_address',
      status: 400,
    })
    expect(await failure(client.addPeer({ body: { Address: node.ledger.self } }))).toMatchObject({
      code: 'peer.unknown',
    })
  },
  async forgetPeer({ client }) {
    await client.addPeer({ body: { Address: ADDED } })
    expect(await client.forgetPeer({ peer: ADDED })).toEqual({ State: 'Removed' })
    expect(await failure(client.forgetPeer({ peer: ADDED }))).toMatchObject({
      code: 'peer.unknown',
      status: 404,
    })
  },
  async getTraffic({ client }) {
    expect(STATS.totalIn).toBe(stats.TotalIn)
    expect(await client.getTraffic()).toEqual(stats)
  },
  async listProtocolTraffic({ client }) {
    expect({ ...(await client.listProtocolTraffic()) }).toEqual({ '/meshsub/1.2.0': stats })
  },
  async getProtocolTraffic({ client }) {
    expect(await client.getProtocolTraffic({ protocol: '/meshsub/1.2.0' })).toEqual(stats)
    expect((await client.getProtocolTraffic({ protocol: '__proto__' })).TotalIn).toBe(0)
  },
  async listPeerTraffic({ client }) {
    expect({ ...(await client.listPeerTraffic()) }).toEqual({ [PEER]: stats })
  },
  async getPeerTraffic(world) {
    expect(await world.client.getPeerTraffic({ peer: PEER })).toEqual(stats)
    expect((await world.client.getPeerTraffic({ peer: self(world) })).TotalIn).toBe(0)
    expect(await failure(world.client.getPeerTraffic({ peer: 'nobody' }))).toMatchObject({
      code: 'http.bad_path',
      status: 400,
      issues: [{ field: 'peer', value: 'nobody' }],
    })
  },
  async watchEvents(world) {
    const controller = new AbortController()
    const { promise: isOpen, resolve: opened } = Promise.withResolvers<void>()
    const events = world.client.events({
      types: ['ledger.changed', 'peer.disconnected'],
      signal: controller.signal,
      onState: ({ state }) => state === 'open' && opened(),
    })
    const first = events.next()
    await isOpen
    const { State, Block } = await put(world, 'k', 1)
    expect(State).toBe('Committed')
    expect((await first).value).toMatchObject({
      type: 'ledger.changed',
      data: {
        Block,
        More: 0,
        Changes: [{ Bucket: world.bucket, Key: 'k', Owner: self(world), Deleted: false, Origin: 'local' }],
      },
    })
    world.node.emit({ type: 'peer.disconnected', peer: PEER })
    expect((await events.next()).value).toMatchObject({ type: 'peer.disconnected', data: { PeerID: PEER } })
    controller.abort()
    expect(await events.next()).toMatchObject({ done: true })
  },
  async listKeptWrites({ client, bucket }) {
    await client.putJson({
      bucket,
      key: 'kept',
      body: { Name: 'w' },
      keep: '20s',
      field: 'LastSeen=now',
      wait: '5s',
    })
    expect(await client.listKeptWrites()).toContainEqual({
      Bucket: bucket,
      Key: 'kept',
      EverySeconds: 20,
      TimeField: 'LastSeen',
    })
    expect(await client.getEntry({ bucket, key: 'kept' })).toEqual({
      Name: 'w',
      LastSeen: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    })
    await client.deleteEntry({ bucket, key: 'kept' })
    expect(await client.listKeptWrites()).toEqual([])
  },
  async getNode(world) {
    const { StartedAt, ...facts } = await world.client.getNode()
    expect(facts).toEqual({
      Name: 'nas',
      PeerID: self(world),
      Network: 'a3aef9821d7c70a7dfd6',
      Instance: 'node',
      Listen: [world.node.listener.url, world.node.unix.url],
      Version: '0.1.0',
      UptimeSeconds: expect.any(Number) as number,
      HasVpn: true,
      Ownership: 'enforce',
    })
    expect(Date.now() - Date.parse(StartedAt)).toBeLessThan(600_000)
  },
  async getVersion({ client }) {
    expect(await client.getVersion()).toEqual({
      Version: '0.1.0',
      Api: 1,
      Protocols: ['/mesh/replication/1'],
    })
  },
  async getHealth({ client }) {
    expect(await client.getHealth()).toEqual({ Status: 'ok', Ownership: 'enforce', Problems: [] })
  },
  async getReachability({ client }) {
    expect(await client.getReachability()).toEqual({
      Addresses: ['/ip4/192.0.2.1/tcp/4001'],
      Ways: [
        { Name: 'mdns', Enabled: true, Found: 2, LastError: null },
        { Name: 'relay', Enabled: false, Found: null, LastError: 'no relay' },
      ],
      Clock: { AheadMs: -5, Members: 2 },
    })
  },
  async getLogLevel({ client }) {
    const { Level, Subsystems } = await client.getLogLevel()
    expect([Level.split(',')[0], Subsystems.map(({ Name }) => Name)]).toEqual(['info', ['p2p']])
  },
  async putLogLevel({ client }) {
    const view = await client.putLogLevel({ body: { Level: 'info,p2p=debug', Keep: true } })
    expect(view).toEqual({
      Level: 'info,p2p=debug',
      Kept: true,
      Subsystems: [{ Name: 'p2p', Level: 'debug' }],
    })
    await expect(client.putLogLevel({ body: { Level: 'loud' } })).rejects.toMatchObject({
      code: 'node.bad_log_level',
      status: 400,
    })
  },
  async listLeases({ client, bucket }) {
    const lease = await client.takeLease({ name: bucket, body: { TTL: '15s' } })
    expect(await client.listLeases()).toContainEqual(lease)
  },
  async takeLease(world) {
    const { client, bucket: name } = world
    const lease = await client.takeLease({ name, body: { TTL: '15s' } })
    expect(lease).toMatchObject({ Name: name, Holder: self(world), TTL: 15 })
    const { Number } = lease
    expect(await client.takeLease({ name, body: { TTL: '15s', Number } })).toEqual(lease)
    const again = (body: object) => failure(client.takeLease({ name, body: { TTL: '15s', ...body } }))
    expect(await again({})).toMatchObject({ status: 409, code: 'lease.held' })
    expect(await again({ Number: Number + 1 })).toMatchObject({ status: 409, code: 'lease.lost' })
    expect(await failure(client.takeLease({ name: 'x', body: { TTL: '1s' } }))).toMatchObject({
      code: 'lease.bad_ttl',
    })
  },
  async releaseLease({ client, bucket: name }) {
    const { Number } = await client.takeLease({ name, body: { TTL: '15s' } })
    expect(await failure(client.releaseLease({ name, number: String(Number + 1) }))).toMatchObject({
      code: 'lease.lost',
    })
    expect(await client.releaseLease({ name, number: String(Number) })).toEqual({ State: 'Removed' })
    expect((await client.listLeases()).map(({ Name }) => Name)).not.toContain(name)
  },
  async listNodeServices({ client, bucket }) {
    await client.putNodeService({ name: bucket, body: { Target: '127.0.0.1:80' } })
    expect((await client.listNodeServices()).map(({ Name }) => Name)).toContain(bucket)
  },
  async getNodeService({ client, bucket }) {
    await client.putNodeService({ name: bucket, body: { Target: 'udp:127.0.0.1:53' } })
    expect(await client.getNodeService({ name: bucket })).toEqual({
      Name: bucket,
      Target: 'udp:127.0.0.1:53',
      State: 'announced',
      Since: '2026-11-21T12:00:00Z',
      Owner: null,
      ...OFFERED,
    })
  },
  async putNodeService({ client, bucket }) {
    const service = await client.putNodeService({ name: bucket, body: { Target: 'unix:/run/x.sock' } })
    expect(service).toMatchObject({ Name: bucket, Target: 'unix:/run/x.sock' })
    const empty = client.putNodeService({ name: bucket, body: { Target: '' } })
    expect(await failure(empty)).toMatchObject({ status: 400, code: 'http.bad_body' })
  },
  async deleteNodeService({ client, bucket }) {
    await client.putNodeService({ name: bucket, body: { Target: ':80' } })
    expect(await client.deleteNodeService({ name: bucket })).toEqual({ State: 'Removed' })
    expect(await failure(client.getNodeService({ name: bucket }))).toMatchObject({ status: 404 })
  },
  async listNodeConnections({ client, bucket }) {
    await client.putNodeConnection({ name: bucket, body: { Listen: ':9000' } })
    expect((await client.listNodeConnections()).map(({ Name }) => Name)).toContain(bucket)
  },
  async getNodeConnection({ client, bucket }) {
    await client.putNodeConnection({ name: bucket, body: { Listen: ':9000' } })
    expect(await client.getNodeConnection({ name: bucket })).toEqual({
      Name: bucket,
      Listen: ':9000',
      State: 'waiting for a provider',
      Provider: null,
      Providers: 0,
      Path: null,
      Transport: null,
      ...OFFERED,
    })
  },
  async putNodeConnection({ client, bucket }) {
    const connection = await client.putNodeConnection({ name: bucket, body: { Listen: ':9001' } })
    expect(connection).toMatchObject({ Name: bucket, Listen: ':9001' })
  },
  async deleteNodeConnection({ client, bucket }) {
    await client.putNodeConnection({ name: bucket, body: { Listen: ':9000' } })
    expect(await client.deleteNodeConnection({ name: bucket })).toEqual({ State: 'Removed' })
  },
  async listNodeFiles({ client, bucket }) {
    await client.putNodeFile({ name: bucket, body: { Path: '/srv' } })
    expect((await client.listNodeFiles()).map(({ Name }) => Name)).toContain(bucket)
  },
  async getNodeFile({ client, bucket }) {
    await client.putNodeFile({ name: bucket, body: { Path: '/srv' } })
    expect(await client.getNodeFile({ name: bucket })).toEqual({
      Name: bucket,
      Path: '/srv',
      State: 'announced',
      Owner: null,
      LeftOut: 1,
      LeftOutNames: ['latest: a link'],
      Completed: 3,
      Receivers: [],
      LastError: null,
      Kept: true,
    })
  },
  async uploadNodeFile({ client, bucket }) {
    const body = Uint8Array.of(1, 2, 3)
    expect(await client.uploadNodeFile({ name: bucket, from: '0', of: '4', body })).toEqual({
      Name: bucket,
      State: 'receiving',
      Bytes: 3,
      TotalBytes: 4,
    })
    const tooLong = new Uint8Array(MAX_UPLOAD_PIECE_BYTES + 1)
    await expect(
      client.uploadNodeFile({ name: bucket, from: '0', of: '9999999', body: tooLong }),
    ).rejects.toMatchObject({ code: 'http.body_too_large' })
  },
  async lookIntoFile({ client, bucket }) {
    expect(await client.lookIntoFile({ name: bucket })).toMatchObject({ Files: 1, Entries: [{ Bytes: 3 }] })
  },
  async receiveNodeFile({ client, bucket }) {
    expect(await client.receiveNodeFile({ name: bucket })).toMatchObject({
      Name: bucket,
      Destination: '/inbox/',
    })
  },
  async putNodeFile({ client, bucket }) {
    expect(await client.putNodeFile({ name: bucket, body: { Path: '/srv' } })).toMatchObject({ Path: '/srv' })
  },
  async deleteNodeFile({ client, bucket }) {
    await client.putNodeFile({ name: bucket, body: { Path: '/srv' } })
    expect(await client.deleteNodeFile({ name: bucket })).toEqual({ State: 'Removed' })
  },
  async listNodeDownloads({ client, node, bucket }) {
    await download(node, bucket, '/srv/inbox/')
    expect((await client.listNodeDownloads()).map(({ Name }) => Name)).toContain(bucket)
  },
  async getNodeDownload({ client, node, bucket }) {
    await download(node, bucket, '/srv/inbox/')
    expect(await client.getNodeDownload({ name: bucket })).toEqual({
      Name: bucket,
      Destination: '/srv/inbox/',
      State: 'failed',
      Provider: null,
      Path: null,
      Transport: null,
      Files: null,
      Bytes: 0,
      TotalBytes: null,
      Rate: 0,
      LeftMs: null,
      LeftOut: null,
      LeftOutNames: [],
      WrittenTo: null,
      Verified: null,
      LastError: 'the disk is full',
      ErrorCode: 'files.no_space',
      Hint: 'Make room.',
    })
  },
  async putNodeDownload({ client, node, bucket }) {
    const asked = { name: bucket, body: { Destination: '/etc/cron.d/' } }
    expect(await failure(client.putNodeDownload(asked))).toMatchObject({
      status: 403,
      code: 'node.owner_only',
    })
    expect(await download(node, bucket, '/etc/cron.d/')).toMatchObject({ Destination: '/etc/cron.d/' })
  },
  async deleteNodeDownload({ client, node, bucket }) {
    await download(node, bucket, '/srv')
    expect(await client.deleteNodeDownload({ name: bucket })).toEqual({ State: 'Removed' })
  },
  async getNodeEgress({ client }) {
    const traffic = { OpenConnections: 1, Connections: 2, BytesIn: 30, BytesOut: 40 }
    expect(await client.getNodeEgress()).toEqual({
      Offered: { ...traffic, Refusals: { forbidden: 2 } },
      Proxy: {
        Listen: '127.0.0.1:1080',
        Egress: null,
        Path: null,
        Transport: null,
        ...traffic,
        LastError: null,
      },
    })
  },
  async getPeergate({ client }) {
    expect(await client.getPeergate()).toBe(false)
  },
  async putPeergate({ client }) {
    expect(await client.putPeergate({ state: 'enable' })).toBe(true)
    expect(await client.putPeergate({ state: 'disable' })).toBe(false)
    const wrong = client.putPeergate({ state: 'open' as 'enable' })
    expect(await failure(wrong)).toMatchObject({ status: 400, code: 'http.bad_path' })
  },
  async getAdmission({ client }) {
    expect(await client.getAdmission()).toEqual({
      Peerguard: true,
      Gate: false,
      Administrators: [PEER],
      NeedsApproval: false,
      HoldsKey: true,
      Revoked: false,
      Members: [{ PeerID: PEER, Name: 'nas', State: 'waiting', Administrator: null, EndsAt: null }],
      Invites: [
        {
          Invite: PEER,
          Administrator: PEER,
          Label: 'laptop',
          ExpiresAt: '2026-01-01T00:00:00.000Z',
          MemberForSeconds: null,
          State: 'open',
          Claims: [],
        },
      ],
    })
  },
  async putMember({ client }) {
    expect(await client.putMember({ peer: PEER, body: { State: 'revoked' } })).toEqual({ State: 'Stated' })
    const wrong = client.putMember({ peer: 'nobody', body: { State: 'revoked' } })
    expect(await failure(wrong)).toMatchObject({ status: 400, code: 'http.bad_path' })
  },
  async putApproval({ client }) {
    expect(await client.putApproval({ body: { Required: true } })).toEqual({ State: 'Stated' })
  },
  async createInvite({ client }) {
    expect(await client.createInvite({ body: { LifeSeconds: 60, Label: 'laptop' } })).toEqual({
      Code: 'mesh-invite-laptop',
      Link: 'mesh://join/mesh-invite-laptop',
      Invite: PEER,
      ExpiresAt: '1970-01-01T00:01:00.000Z',
    })
  },
  async cancelInvite({ client }) {
    expect(await client.cancelInvite({ invite: PEER })).toEqual({ State: 'Stated' })
  },
  async getRules({ client }) {
    expect(await client.getRules()).toEqual(RULES)
  },
  async getRulesSchema({ client }) {
    expect(await client.getRulesSchema()).toEqual({ title: 'Access rules' })
  },
  async testRules({ client }) {
    expect(await client.testRules({ from: 'web-1', to: 'db-1', on: 'tcp:22' })).toEqual({
      Allowed: false,
      Sentence: 'web-1 may not reach db-1 on tcp:22: no rule allows it',
      From: endpoint('web-1'),
      To: endpoint('db-1'),
    })
    const wrong = client.testRules({ from: 'web-1', to: 'db-1', on: 'nothing' })
    expect(await failure(wrong)).toMatchObject({ status: 400, code: 'trust.bad_policy' })
  },
  async listWhoReaches({ client }) {
    expect(await client.listWhoReaches({ to: 'db-1' })).toEqual({
      To: endpoint('db-1'),
      Everybody: false,
      Reached: [{ From: endpoint('web-1'), On: ['tcp:5432'] }],
    })
  },
  async checkRules({ client }) {
    expect(await client.checkRules({ body: { Text: 'default: allow' } })).toEqual(RULES_CHECK)
  },
  async putRules({ client }) {
    const body = { Text: 'default: allow', Force: true, Serial: 6 }
    expect(await client.putRules({ body })).toEqual({
      Serial: 7,
      Administrator: PEER,
      SignedAt: '2026-01-01T00:00:00.000Z',
    })
    const late = client.putRules({ body: { ...body, Serial: 1 } })
    expect(await failure(late)).toMatchObject({ status: 409, code: 'trust.policy_changed' })
  },
  async getOpenApi({ client }) {
    const document = await client.getOpenApi()
    expect(document).toMatchObject({ openapi: '3.1.0', paths: { '/api/summary': { get: {} } } })
  },
  async getLiveness({ client }) {
    expect(await client.getLiveness()).toBe('ok\n')
  },
  async getReadiness({ client }) {
    expect(await client.getReadiness()).toBe('ok\n')
  },
  async getMetrics(world) {
    await put(world, 'k', 1)
    const text = await world.client.getMetrics()
    expect(text).toContain(`mesh_ledger_live_entries{bucket="${world.bucket}"} 1\n`)
    expect(text).toContain('mesh_received_bytes_total{protocol="/meshsub/1.2.0"} 5462\n')
    expect(text).toMatch(/^mesh_api_requests_total\{route="putJson",status="200"\} \d+$/m)
  },
}

let node: TestNode
beforeAll(async () => {
  const machine = fakeMachine({
    Routes: ['192.168.8.0/24'],
    OffersExit: ['ipv4'],
    Way: 'sealed',
    Path: 'direct',
    Transport: 'tcp',
    Since: '2026-01-01T00:00:00.000Z',
    Drops: { spoofedSource: 4 },
  })
  node = await startTestNode({
    vpn: fakeVpn([machine]),
    components: { access: createFakeAccess(), rules: createFakeRules() },
  })
  node.server.attachOffers(createFakeOffers())
})
afterAll(() => node.stop())

const ids = Object.keys(routes) as RouteId[]
test.each(ids)('%s answers over TCP', async (id) => {
  expect.hasAssertions()
  await cases[id]({ node, client: node.client, bucket: `tcp-${id}` })
})
test.each(ids)('%s answers over a unix socket', async (id) => {
  expect.hasAssertions()
  await cases[id]({ node, client: node.unixClient, bucket: `unix-${id}` })
})

function failure(promise: Promise<unknown>): Promise<ApiError> {
  return promise.then(
    () => expect.unreachable('did not fail'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ApiError)
      return error as ApiError
    },
  )
}
