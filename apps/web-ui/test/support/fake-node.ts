/** A node made of answers, for tests of the page: speaks HTTP through the real client, without a network. */
import type { Fetch } from '@mesh/api-client'
import type { EventData, EventType, PeerView } from '@mesh/api-contract'
import { parseExactJson, stringifyExactJson } from '@mesh/core'
import { type Change, createLedger, createSigner, defaultPolicies, type Ledger } from '@mesh/ledger'

export const SELF = createSigner(new Uint8Array(32).fill(1))
export const NAS = createSigner(new Uint8Array(32).fill(2))
export const CABIN = createSigner(new Uint8Array(32).fill(3))

interface Reply {
  readonly status: number
  readonly body: unknown
}

type Answer = (query: URLSearchParams) => Reply | Promise<Reply>

export interface FakeNode {
  readonly fetch: Fetch
  /** `METHOD /path`, in the order of arrival. */
  readonly requests: string[]
  /** Bodies of what was written, by `METHOD /path`. */
  readonly bodies: Map<string, string>
  /** Event streams that are open now. */
  openStreams(): number
  /** `Last-Event-ID` of each stream that went on after another. */
  readonly resumedFrom: string[]
  /** Replaces the answer to `GET /path`, or to another method where the path begins with it. */
  answer(path: string, reply: Answer): void
  send<Type extends EventType>(type: Type, data: EventData<Type>): void
  /** What every stream says to show that the node is there. */
  heartbeat(): void
  /** Takes connections and answers nothing, until `up`: as a process that is stopped. */
  hang(): void
  /** Queries of the event streams, in the order of arrival. */
  readonly streamQueries: string[]
  /** Sent to each new stream first. */
  history(type: EventType, data: object): void
  /** Unreachable until `up`. */
  down(): void
  up(): void
  readonly ledger: ReturnType<typeof createLedger>
}

export function createFakeNode(): FakeNode {
  const ledger = createLedger({ policies: defaultPolicies }, { signer: SELF })
  const answers = new Map<string, Answer>()
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>()
  const requests: string[] = []
  const bodies = new Map<string, string>()
  const resumedFrom: string[] = []
  const encoder = new TextEncoder()
  let reachable = true
  let lastId = 0
  let hanging: PromiseWithResolvers<void> | undefined
  const streamQueries: string[] = []
  const past: Uint8Array[] = []
  const node: FakeNode = {
    requests,
    bodies,
    resumedFrom,
    streamQueries,
    openStreams: () => streams.size,
    ledger,
    fetch: async (url, init) => {
      if (!reachable) throw new TypeError('connection refused')
      const [path = '', query = ''] = url.split('?')
      requests.push(`${init.method} ${path}`)
      if (hanging !== undefined) await Promise.race([hanging.promise, aborted(init.signal)])
      if (init.body !== undefined) bodies.set(`${init.method} ${path}`, String(init.body))
      if (path === '/api/events') {
        streamQueries.push(query)
        const from = init.headers['last-event-id']
        if (from !== undefined) resumedFrom.push(from)
        return eventStream(streams, init.signal, query.includes('last=') ? past : [])
      }
      const answer = answers.get(init.method === 'GET' ? path : `${init.method} ${path}`)
      const { status, body, next }: Reply & { readonly next?: string } =
        (await answer?.(new URLSearchParams(query))) ??
        (init.method === 'GET'
          ? read(ledger, path, new URLSearchParams(query))
          : await write(ledger, path, init))
      const headers: Record<string, string> =
        next === undefined ? {} : { Link: `<${path}?after=${encodeURIComponent(next)}>; rel="next"` }
      return new Response(stringifyExactJson(body), { status, headers })
    },
    answer: (path, reply) => void answers.set(path, reply),
    send(type, data) {
      const text = `id: ${++lastId}\nevent: ${type}\ndata: ${stringifyExactJson(data)}\n\n`
      for (const stream of streams) stream.enqueue(encoder.encode(text))
    },
    down() {
      reachable = false
      for (const stream of streams) stream.error(new TypeError('connection reset'))
      streams.clear()
    },
    heartbeat() {
      if (hanging !== undefined) return
      for (const stream of streams) stream.enqueue(encoder.encode(': heartbeat\n\n'))
    },
    hang: () => void (hanging ??= Promise.withResolvers()),
    history: (type, data) =>
      void past.push(
        encoder.encode(`id: past-${past.length}\nevent: ${type}\ndata: ${stringifyExactJson(data)}\n\n`),
      ),
    up() {
      reachable = true
      hanging?.resolve()
      hanging = undefined
    },
  }
  ledger.subscribe((event) => {
    if (event.type !== 'committed') return
    node.send('ledger.changed', {
      Block: event.head.index,
      Changes: event.changes.map(changeView),
      More: 0,
    })
  })
  return node
}

function changeView({ bucket, key, entry, origin }: Change) {
  return {
    Bucket: bucket,
    Key: key,
    Owner: entry.owner,
    Version: entry.version,
    Deleted: entry.deleted,
    Origin: origin,
  }
}

/** How many keys a page of a bucket has. */
const PAGE_KEYS = 100

/** What `GET` answers: from the ledger, or fixed. */
function read(ledger: Ledger, path: string, query: URLSearchParams): Reply & { readonly next?: string } {
  const [, , area, bucket = '', key] = path.split('/').map(decodeURIComponent)
  const snapshot = ledger.snapshot()
  if (area === 'digest') {
    const { entries, digest, buckets } = snapshot.digest()
    return ok({ Entries: entries, Digest: digest, Buckets: buckets })
  }
  if (area === 'ledger' && key === undefined) {
    const values: Record<string, unknown> = Object.create(null)
    const after = query.get('after') ?? ''
    const rows = [...snapshot.entries(bucket)].filter(
      ({ key: found, entry }) => found > after && !entry.deleted,
    )
    const shown = rows.slice(0, PAGE_KEYS)
    for (const keyed of shown) values[keyed.key] = parseExactJson(keyed.entry.value)
    const last = rows.length > shown.length ? shown.at(-1)?.key : undefined
    return { ...ok(values), ...(last !== undefined && { next: last }) }
  }
  const entry = key === undefined ? undefined : snapshot.get(bucket, key)
  if (area === 'ledger' && entry?.deleted === false) return ok(parseExactJson(entry.value))
  if (area === 'blockchain' && entry !== undefined) {
    const Sig = entry.sig === null ? null : Buffer.from(entry.sig).toString('base64')
    const { value: Value, owner: Owner, version: Version, updatedAt: UpdatedAt, deleted: Deleted } = entry
    return ok({ Value, Owner, Version, UpdatedAt, Deleted, Sig })
  }
  return path in FIXED_ANSWERS ? ok(FIXED_ANSWERS[path]) : notFound
}

/** A `PUT` or `DELETE` of the ledger. */
async function write(ledger: Ledger, path: string, { method, body }: Parameters<Fetch>[1]): Promise<Reply> {
  const [, , , bucket = '', key = ''] = path.split('/').map(decodeURIComponent)
  const written = method === 'PUT' ? ledger.put(bucket, key, String(body ?? '')) : ledger.delete(bucket, key)
  const outcome = await written.settled
  return ok(
    outcome.state === 'committed' ? { State: 'Committed', Block: outcome.block } : { State: 'Superseded' },
  )
}

/** A peer as `/api/peers` shows it: connected directly unless told otherwise. */
export function peer(id: string, name: string, changes: Partial<PeerView> = {}): PeerView {
  return {
    ID: id,
    Name: name,
    Connected: true,
    Member: true,
    Path: 'direct',
    Relay: null,
    FoundBy: [],
    Transport: 'tcp',
    Addresses: [],
    RoundTripMs: 4,
    LastSeen: null,
    LastError: null,
    Reach: null,
    Agent: null,
    UDP: null,
    TotalIn: 0,
    TotalOut: 0,
    RateIn: 0,
    RateOut: 0,
    ...changes,
  }
}

/** An answer with an error of the catalogue. */
export function refusal(status: number, code: string, message: string, hint: string, more = {}): Reply {
  return {
    status,
    body: { Code: code, Message: message, Hint: hint, RequestID: 'r1', Issues: [], ...more },
  }
}

const notFound = refusal(404, 'ledger.not_found', 'there is no such entry', 'Look at the bucket.')

const ok = (body: unknown): Reply => ({ status: 200, body })

function summary(id: string) {
  const none = { Files: 0, Machines: 0, Users: 0, Services: 0 }
  return { ...none, BlockChain: 7, OnChainNodes: 2, Peers: 3, NodeID: id }
}

/** A setting as `/api/node/settings` shows it. */
function setting(Name: string, Group: string, Value: string, Source: string, Place: string) {
  return { Name, Group, Summary: `What ${Name} says`, Value, Source, Place }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason as Error)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

function eventStream(
  streams: Set<ReadableStreamDefaultController<Uint8Array>>,
  signal: AbortSignal,
  past: readonly Uint8Array[],
): Response {
  let own: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      own = controller
      for (const event of past) controller.enqueue(event)
      streams.add(controller)
      signal.addEventListener('abort', () => {
        if (streams.delete(controller)) controller.error(signal.reason)
      })
    },
    cancel() {
      if (own !== undefined) streams.delete(own)
    },
  })
  return new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } })
}

/** Answers to `GET` that no test changed, but for what the ledger answers. */
const FIXED_ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/summary': summary(SELF.peerId),
  '/api/nodes': [SELF, NAS, CABIN].map(({ peerId }) => ({ ID: peerId, Online: true })),
  '/api/machines': [],
  '/api/peers': [peer(NAS.peerId, 'nas'), peer(CABIN.peerId, 'cabin', { Path: 'relayed', RoundTripMs: 61 })],
  '/api/services': [],
  '/api/files': [],
  '/api/dns': [],
  '/api/dns/server': {
    Zone: 'mesh.',
    Listening: ['127.0.0.1:53'],
    Names: 0,
    Patterns: 0,
    Cached: 0,
    Forwarders: [],
    Queries: {},
  },
  '/api/node/services': [],
  '/api/node/connections': [],
  '/api/node/files': [],
  '/api/node/downloads': [],
  '/api/metrics': { TotalIn: 0, TotalOut: 0, RateIn: 0, RateOut: 0 },
  '/api/admission': {
    Peerguard: false,
    Gate: false,
    Administrators: [],
    NeedsApproval: false,
    HoldsKey: false,
    Revoked: false,
    Members: [],
    Invites: [],
  },
  '/api/version': { Version: '0.1.0', Api: 1, Name: '', Protocols: [] },
  '/api/node': {
    Name: '',
    PeerID: SELF.peerId,
    Network: 'a3aef9821d7c70a7dfd6',
    Instance: 'default',
    Listen: ['http://127.0.0.1:8080'],
    Version: '0.1.0',
    StartedAt: '2026-11-21T12:00:00Z',
    UptimeSeconds: 7_200,
    HasVpn: false,
    Ownership: 'enforce',
  },
  '/api/reachability': {
    Addresses: [`/ip4/127.0.0.1/tcp/4001/p2p/${SELF.peerId}`, `/ip4/192.168.1.5/tcp/4001/p2p/${SELF.peerId}`],
    Ways: [
      { Name: 'mdns', Enabled: true, Found: 2, LastError: null },
      { Name: 'dht', Enabled: true, Found: 0, LastError: 'no bootstrap peer answered' },
      { Name: 'bootstrap', Enabled: false, Found: 0, LastError: null },
    ],
    Clock: { AheadMs: 12, Members: 2 },
  },
  '/api/node/settings': [
    setting('token-file', 'Network', '/etc/mesh/net.token', 'flag', '--token-file'),
    setting('private', 'Discovery', 'on', 'file', '/etc/mesh/config.yaml:4'),
    setting('log-level', 'Log', 'info', 'default', ''),
  ],
  '/api/log-level': { Level: 'info', Kept: false, Subsystems: [{ Name: 'p2p', Level: 'info' }] },
  '/api/health': { Status: 'ok', Ownership: 'enforce', Problems: [] },
}
