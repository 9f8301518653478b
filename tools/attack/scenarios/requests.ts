/** Attacks by requests to the API, as many as one block of bytes holds or as long as may be, and on WebSockets of peers. */
import { overAndOver, together } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { apiPortOf, oneOfTen, overSocket, pour, trickle } from '../sockets.ts'

/** Sends bytes on a connection to the API again and again, and reads what comes, until the connection ends. */
async function sendRequests(
  attack: Attack,
  { bytes, counts, from }: { readonly bytes: Uint8Array; readonly counts: number; readonly from?: string },
): Promise<void> {
  await overSocket(attack, { port: apiPortOf(attack.target), from }, (socket) =>
    pour(socket.resume(), bytes, { onWritten: () => attack.tally.count('requests', counts) }),
  )
}

const MB = 1024 * 1024
const MESSAGE_MB = 90
/** Where the victim has its WebSockets: they stand a moment after its other addresses, and are told nobody in time. */
const WEB_SOCKET_PORT = 47_931
const LISTENS_WS = [`--listen-maddrs=/ip4/127.0.0.1/tcp/${WEB_SOCKET_PORT}/ws`]
/** How many connections for WebSockets one attack opens, and how many of them a node may keep: 256 that are none yet, 128 in their handshakes. */
const [WEB_SOCKETS, MAX_HELD_WEB_SOCKETS] = [1_000, 420]
const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: localhost',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
  '',
  '',
].join('\r\n')

const request = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`

/** What is said on connections for WebSockets: all that makes one, nothing, and half of it. */
const BEGINNINGS = [UPGRADE, '', UPGRADE.slice(0, 40)]

/** Opens a WebSocket and sends a message of 90 MiB, of which one byte never comes, or bytes that are no frame. */
async function beginMessage(attack: Attack, isFrame: boolean): Promise<void> {
  const head = Buffer.alloc(14)
  // binary and whole; masked by zeros, with a length of 64 bits
  head.writeUInt16BE(0x82ff, 0)
  head.writeBigUInt64BE(BigInt(MESSAGE_MB * MB), 2)
  const onWritten = () => attack.tally.count('MiB of messages')
  await overSocket(attack, WEB_SOCKET_PORT, (socket) => {
    socket.once('data', () => {
      socket.resume().write(isFrame ? head : Buffer.alloc(64, 0xff))
      pour(socket, Buffer.alloc(MB), { most: MESSAGE_MB - 1, onWritten })
    })
    socket.write(UPGRADE)
  })
}

/** Opens a WebSocket, or nothing but its connection, and keeps it for as long as the victim does. */
async function holdWebSocket({ tally, ...attack }: Attack, at: number): Promise<void> {
  await overSocket({ tally, ...attack }, { port: WEB_SOCKET_PORT, from: oneOfTen(at) }, (socket) => {
    tally.count('connections')
    socket.once('close', () => {
      if (!attack.signal.aborted) tally.count('ended by the victim')
    })
    socket.resume().write(BEGINNINGS[at % 3] ?? '')
  })
}

/** Begins requests with a body, of which a byte comes each half second, until the connection ends. */
async function sendSlowBody(attack: Attack): Promise<void> {
  await overSocket(attack, apiPortOf(attack.target), (socket) => {
    attack.tally.count('bodies')
    socket.resume().write(bodyRequest('PUT', '/api/ledger/notes/slow', 'Content-Length: 100000'))
    return trickle(socket, 0x20, 500)
  })
}

const bodyRequest = (method: string, path: string, length: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`

/** Sends the first 700 KB of a head, and then nothing, until the connection ends. */
async function beginHead(attack: Attack, head: Uint8Array): Promise<void> {
  await overSocket(attack, apiPortOf(attack.target), (socket) =>
    socket.resume().write(head, () => attack.tally.count('heads begun')),
  )
}

const PIPELINED = Buffer.from(request('/api/summary').repeat(2_000))

function wrongBody(): Uint8Array {
  const wrong = Array.from({ length: 13_000 }, (_, at) => `"${at.toString(36)}":1`).join(',')
  const body = `{"Regex":"a","Records":{${wrong}}}`
  return Buffer.from(`${bodyRequest('POST', '/api/dns', `Content-Length: ${body.length}`)}${body}`)
}

/** Chunks of one byte, eleven thousand in each block of bytes. */
const CRUMBLED = Buffer.from(
  bodyRequest('POST', '/api/dns', 'Transfer-Encoding: chunked') + '1\r\na\r\n'.repeat(100_000),
)

export const REQUEST_ATTACKS: readonly Scenario[] = [
  {
    name: 'websocket-messages',
    who: 'stranger',
    does: `messages of ${MESSAGE_MB} MiB on 16 WebSockets, before any handshake, none of which ends, and bytes that are no frame`,
    boundedBy: 'MAX_WEBSOCKET_MESSAGE_BYTES, PENDING_INBOUND, ACCEPTING_SOCKETS',
    legacy: { flags: LISTENS_WS },
    aim: 'MiB of messages',
    needs: LISTENS_WS,
    run: (attack) => together(16, (at) => overAndOver(attack, () => beginMessage(attack, at % 4 !== 0))),
  },
  {
    name: 'websocket-strangers',
    who: 'stranger',
    does: `${WEB_SOCKETS} connections for WebSockets from ten addresses say nothing before or after they are some, or half of the way, answer no end, and stay`,
    boundedBy: 'PENDING_INBOUND, ACCEPTING_SOCKETS, WEBSOCKET_UPGRADE_MS',
    legacy: { flags: LISTENS_WS },
    aim: 'connections',
    needs: LISTENS_WS,
    run: (attack) =>
      together(WEB_SOCKETS, (at) => overAndOver(attack, () => holdWebSocket(attack, at), 60_000)),
    async reached({ tally }) {
      const held = tally.of('connections') - tally.of('ended by the victim')
      return held > MAX_HELD_WEB_SOCKETS ? `${held} connections stayed` : undefined
    },
  },
  {
    name: 'unfinished-heads',
    who: 'stranger',
    does: 'the first 700 KB of a request, of which no more comes, on 1,000 connections to the API',
    boundedBy: 'UNREAD_BODIES, HEADERS_TIMEOUT_MS',
    legacy: {},
    aim: 'heads begun',
    run(attack) {
      const head = Buffer.from(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'h'.repeat(700 * 1024)}`)
      return together(1_000, () => overAndOver(attack, () => beginHead(attack, head), 10_000))
    },
  },
  {
    name: 'pipelined-requests',
    who: 'stranger',
    does: 'thousands of requests in each block of bytes, on 8 connections to the API',
    boundedBy: 'the loop budget',
    legacy: {},
    aim: 'requests',
    run: (attack) =>
      together(8, () => overAndOver(attack, () => sendRequests(attack, { bytes: PIPELINED, counts: 2_000 }))),
  },
  {
    name: 'many-pipelined',
    who: 'stranger',
    does: 'the same on 80 connections from ten addresses',
    boundedBy: 'the loop budget, one request at a time on a connection, UNREAD_BODIES',
    legacy: {},
    isApart: true,
    aim: 'requests',
    run: (attack) =>
      together(80, (at) =>
        overAndOver(attack, () =>
          sendRequests(attack, { bytes: PIPELINED, counts: 2_000, from: oneOfTen(at) }),
        ),
      ),
  },
  {
    name: 'long-headers',
    who: 'stranger',
    does: 'requests with 350 headers of 700 bytes each, which are just taken, on 16 connections to the API',
    boundedBy: 'MAX_HEAD_BYTES, the loop budget',
    legacy: {},
    aim: 'requests',
    run(attack) {
      const headers = Array.from({ length: 350 }, (_, at) => `X-${at}: ${'h'.repeat(700)}\r\n`).join('')
      const bytes = Buffer.from(request('/api/summary', headers))
      return together(16, () => overAndOver(attack, () => sendRequests(attack, { bytes, counts: 1 })))
    },
  },
  {
    name: 'page-paths',
    who: 'stranger',
    does: 'asks for pages by paths of 250 KB, all dots and a slash, as a page of others can too, on 8 connections',
    boundedBy: 'MAX_PATH_BYTES; paths are read by no expression that goes back',
    legacy: {},
    aim: 'requests',
    run(attack) {
      const bytes = Buffer.from(request(`/${'.'.repeat(250_000)}/`))
      return together(8, () => overAndOver(attack, () => sendRequests(attack, { bytes, counts: 1 })))
    },
  },
  {
    name: 'long-queries',
    who: 'stranger',
    does: 'asks for pages of the ledger with 40,000 parameters that there are not, on 8 connections',
    boundedBy: 'MAX_PATH_BYTES, MAX_QUERY_PARAMETERS',
    legacy: {},
    aim: 'requests',
    run(attack) {
      const query = Array.from({ length: 40_000 }, (_, at) => `${at.toString(36)}`).join('&')
      const bytes = Buffer.from(request(`/api/ledger?limit=1&pretty&after=a&${query}`))
      return together(8, () => overAndOver(attack, () => sendRequests(attack, { bytes, counts: 1 })))
    },
  },
  {
    name: 'wrong-bodies',
    who: 'stranger',
    does: 'bodies of 120 KB in which 13,000 things are wrong, each of which an answer could name, on 8 connections',
    boundedBy: 'MAX_BODY_BYTES, MAX_ISSUES, the loop budget',
    legacy: {},
    aim: 'requests',
    run(attack) {
      const bytes = wrongBody()
      return together(8, () => overAndOver(attack, () => sendRequests(attack, { bytes, counts: 1 })))
    },
  },
  {
    name: 'many-wrong-bodies',
    who: 'stranger',
    does: 'the same on 80 connections from ten addresses',
    boundedBy: 'MAX_BODY_BYTES, MAX_ISSUES, the loop budget, UNREAD_BODIES',
    legacy: {},
    isApart: true,
    aim: 'requests',
    run(attack) {
      const bytes = wrongBody()
      return together(80, (at) =>
        overAndOver(attack, () => sendRequests(attack, { bytes, counts: 1, from: oneOfTen(at) })),
      )
    },
  },
  {
    name: 'crumbled-bodies',
    who: 'stranger',
    does: 'bodies in chunks of one byte, eleven thousand in each block of bytes, on 80 connections from ten addresses',
    boundedBy: 'UNREAD_BODIES',
    legacy: {},
    aim: 'bodies',
    run: (attack) =>
      together(80, (at) =>
        overAndOver(attack, () =>
          overSocket(attack, { port: apiPortOf(attack.target), from: oneOfTen(at) }, (socket) =>
            pour(socket.resume(), CRUMBLED, { onWritten: () => attack.tally.count('bodies') }),
          ),
        ),
      ),
  },
  {
    name: 'slow-bodies',
    who: 'stranger',
    does: '2,000 requests whose bodies of 100 KB come byte by byte',
    boundedBy: 'the loop budget, REQUEST_TIMEOUT_MS, REMOTE_CONNECTIONS',
    legacy: {},
    aim: 'bodies',
    run: (attack) => together(2_000, () => overAndOver(attack, () => sendSlowBody(attack), 1_000)),
  },
]
