/** Attacks by requests to the API: as many as one block of bytes holds, and such as never end. */
import { connect } from 'node:net'
import { overAndOver, together } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'

/** Sends bytes on a connection to the API again and again, and reads what comes, until the connection ends. */
async function sendRequests(
  { target, signal, tally }: Attack,
  { bytes, counts }: { readonly bytes: Uint8Array; readonly counts: number },
): Promise<void> {
  const { hostname, port } = new URL(target.url)
  const socket = connect({ host: hostname, port: Number(port) })
  const end = () => socket.destroy()
  signal.addEventListener('abort', end)
  const send = () => {
    for (let mayFollow = true; mayFollow && !socket.destroyed; tally.count('requests', counts))
      mayFollow = socket.write(bytes)
  }
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => {
      socket.on('drain', send).resume()
      send()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve())
  }).finally(() => signal.removeEventListener('abort', end))
}

const request = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`

export const REQUEST_ATTACKS: readonly Scenario[] = [
  {
    name: 'pipelined-requests',
    who: 'stranger',
    does: 'thousands of requests in each block of bytes, on 8 connections to the API',
    boundedBy: 'REQUESTS_TURN_MS',
    appliesToLegacy: false,
    aim: 'requests',
    run(attack) {
      const bytes = Buffer.from(request('/api/summary').repeat(2_000))
      return together(8, () => overAndOver(attack, () => sendRequests(attack, { bytes, counts: 2_000 })))
    },
  },
  {
    name: 'long-headers',
    who: 'stranger',
    does: 'requests with 350 headers of 700 bytes each, which are just taken, on 16 connections to the API',
    boundedBy: 'MAX_REQUEST_HEAD_BYTES, REQUESTS_TURN_MS',
    appliesToLegacy: false,
    aim: 'requests',
    run(attack) {
      const headers = Array.from({ length: 350 }, (_, at) => `X-${at}: ${'h'.repeat(700)}\r\n`).join('')
      const bytes = Buffer.from(request('/api/summary', headers))
      return together(16, () => overAndOver(attack, () => sendRequests(attack, { bytes, counts: 1 })))
    },
  },
]
