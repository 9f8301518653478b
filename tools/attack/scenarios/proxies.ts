/** Attacks by programs, of this machine or of the local network, that use a node's proxy. */
import type { Stream } from '@libp2p/interface'
import { framed, overAndOver, together } from '../attackers.ts'
import { provide } from '../provider.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { oneOfTen, overSocket, pour, trickle } from '../sockets.ts'

const EGRESS = '/mesh/egress/1'
const PROXY_PORT = 47_971
const OK = framed(Uint8Array.of(8, 0))
/** How long a program that asks for a page may have to wait for it, in ms. */
const PAGE_MS = 5_000
/** As many as a proxy takes at a time. */
const CONNECTIONS = 1_024

const page = (host: string, rest = '') => `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${rest}\r\n`
const PAGE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage'

/** Is the way out of a node of ours: an origin called `page` answers, all others say nothing. */
async function offerEgress(attack: Attack): Promise<void> {
  if (attack.target.kind === 'legacy') return
  await provide(attack, {
    protocol: EGRESS,
    entry: ({ peerId }) => ['egress', peerId, 'ok'],
    serve: (stream) => serveTunnel(attack, stream),
  })
}

function serveTunnel({ tally }: Attack, stream: Stream): void {
  let isPage: boolean | undefined
  stream.addEventListener('message', ({ data }) => {
    if (isPage === undefined) {
      tally.count('tunnels')
      isPage = Buffer.from(data.subarray()).toString('latin1').includes('page.test')
      stream.send(OK)
    } else if (isPage) stream.send(Buffer.from(PAGE))
  })
}

/** Asks for a page from an address of its own, over and over, and counts the times when it did not come. */
function askForPages(attack: Attack): Promise<void> {
  const { tally, signal } = attack
  return overAndOver(
    attack,
    async () => {
      let isServed = false
      await overSocket(attack, { port: PROXY_PORT, from: '127.0.0.201' }, (socket) => {
        socket.setTimeout(PAGE_MS, () => socket.destroy())
        socket.once('data', (bytes: Buffer) => {
          isServed = bytes.includes('200 OK')
          socket.destroy()
        })
        socket.write(page('page.test'))
      }).catch((error: unknown) => tally.missed(error, signal))
      if (!signal.aborted) tally.count(isServed ? 'pages' : 'missing pages')
    },
    300,
  )
}

async function missingPages({ tally, target }: Attack): Promise<string | undefined> {
  if (target.kind === 'legacy') return undefined
  const [served, missing] = [tally.of('pages'), tally.of('missing pages')]
  return missing === 0 && served > 0 ? undefined : `${served} of ${served + missing} pages came`
}

/** Writes the same to the proxy on a connection, and again when that ends. */
function pourInto(attack: Attack, at: number, bytes: Uint8Array, counts: number): Promise<void> {
  return overAndOver(attack, () =>
    overSocket(attack, { port: PROXY_PORT, from: oneOfTen(at) }, (socket) =>
      pour(socket.resume(), bytes, { onWritten: () => attack.tally.count('requests', counts) }),
    ),
  )
}

/** Asks for a tunnel and leaves before it is there. */
async function askAndLeave(attack: Attack, at: number): Promise<void> {
  await overSocket(attack, { port: PROXY_PORT, from: oneOfTen(at) }, (socket) => {
    socket.write('CONNECT silent.test:80 HTTP/1.1\r\nHost: silent.test\r\n\r\n', () => {
      attack.tally.count('requests')
      setTimeout(() => socket.destroy(), 2)
    })
  })
}

/** Attacks while a program that behaves asks for pages. */
async function besidePages(attack: Attack, attacking: Promise<void>): Promise<void> {
  await Promise.all([askForPages(attack), attacking])
}

/** Begins a request that never ends, of which a byte comes now and then. */
async function beginHead(attack: Attack, at: number): Promise<void> {
  await overSocket(attack, { port: PROXY_PORT, from: oneOfTen(at) }, (socket) => {
    socket.resume().write(HEAD, () => attack.tally.count('requests'))
    return trickle(socket, 0x68, 1_000)
  })
}

const BASE = {
  who: 'stranger',
  // without a node that is a way out its proxy answers that there is none
  legacy: { command: ['proxy'], flags: [`--listen=127.0.0.1:${PROXY_PORT}`] },
  aim: 'requests',
  isApart: true,
  victimArgs: [`--proxy=127.0.0.1:${PROXY_PORT}`],
  prepare: offerEgress,
  reached: missingPages,
} as const

const PIPELINED = Buffer.from(page('silent.test').repeat(2_000))
const HEAD = Buffer.from(
  `GET http://silent.test/ HTTP/1.1\r\nHost: silent.test\r\nX-Long: ${'h'.repeat(60_000)}`,
)
const CRUMBLED = Buffer.from(
  `POST http://silent.test/ HTTP/1.1\r\nHost: silent.test\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(100_000)}`,
)

export const PROXY_ATTACKS: readonly Scenario[] = [
  {
    ...BASE,
    name: 'proxy-requests',
    does: 'thousands of requests in each block of bytes to the proxy, on 8 connections, for an origin that says nothing',
    boundedBy: 'one request of a connection at a time; MAX_CLIENT_BEHIND_BYTES',
    run: (attack) =>
      besidePages(
        attack,
        together(8, (at) => pourInto(attack, at, PIPELINED, 2_000)),
      ),
  },
  {
    ...BASE,
    name: 'proxy-bodies',
    does: 'bodies in chunks of one byte to the proxy, on 80 connections from ten addresses, for an origin that reads nothing',
    boundedBy: 'MAX_PIECES_AT_ONCE, REQUEST_PIECE_BYTES, the loop budget',
    run: (attack) =>
      besidePages(
        attack,
        together(80, (at) => pourInto(attack, at, CRUMBLED, 1)),
      ),
  },
  {
    ...BASE,
    name: 'proxy-heads',
    does: 'the first 60 KB of a request, of which a byte comes each second, on as many connections as the proxy takes, from ten addresses',
    boundedBy:
      'PROXY_GREETING_MS, CLIENT_UNREAD_BYTES, LOCAL_CONNECTIONS: of the address with the most one makes way',
    run: (attack) =>
      besidePages(
        attack,
        together(CONNECTIONS, (at) => overAndOver(attack, () => beginHead(attack, at), 1_000)),
      ),
  },
  {
    ...BASE,
    name: 'proxy-leavers',
    legacy: { meaningless: 'its proxy opens no tunnels' },
    does: 'programs ask the proxy for tunnels and leave before they have them, without pause, on 32 connections',
    boundedBy: 'a tunnel is opened for who is still there; the loop budget',
    run: (attack) =>
      besidePages(
        attack,
        together(32, (at) => overAndOver(attack, () => askAndLeave(attack, at), 5)),
      ),
  },
]
