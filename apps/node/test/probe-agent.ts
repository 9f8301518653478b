/**
 * A process for one network namespace: it answers on the ports that its arguments name (`tcp:22`, `udp:53`), over IPv4 and
 * IPv6, and tries what each line of its standard input asks, as JSON. Each answer is a line of JSON.
 */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'

/** What another process asks for. */
export interface ProbeRequest {
  readonly id: number
  readonly on: 'icmp' | 'tcp' | 'udp' | 'hold' | 'http'
  readonly address: string
  readonly port?: number
}

/** `refused`: the network or the other machine said no; `silent`: nothing came in time. */
export type ProbeOutcome = 'answered' | 'refused' | 'silent'

export interface ProbeAnswer {
  readonly id: number
  readonly outcome: ProbeOutcome
  /** Of `hold`: the connection that it opened has ended. */
  readonly event?: 'ended'
}

const TCP_MS = 1_500
const UDP_MS = 700

function serve(word: string): Promise<void> {
  const [protocol = '', port = ''] = word.split(':')
  return new Promise((resolve, reject) => {
    if (protocol === 'tcp') {
      const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
      server.once('error', reject).listen({ port: Number(port), host: '::' }, resolve)
    } else {
      const socket = createSocket({ type: 'udp6' })
      socket.on('message', (message, from) => socket.send(message, from.port, from.address))
      socket.once('error', reject).bind(Number(port), '::', resolve)
    }
  })
}

function tell(answer: ProbeAnswer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

/** Sends something and waits until it comes back. */
function tryTcp({ id, address, port = 0, on }: ProbeRequest): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const timer = setTimeout(() => {
      resolve('silent')
      socket.destroy()
    }, TCP_MS)
    socket.once('connect', () => socket.write('x'))
    socket.once('data', () => {
      clearTimeout(timer)
      resolve('answered')
      if (on === 'tcp') socket.destroy()
      // a held connection goes on talking, as one that is silent notices nothing
      else socket.on('data', () => setTimeout(() => socket.write('x'), 50)).write('x')
    })
    socket.on('error', () => resolve('refused'))
    socket.once('close', () => {
      clearTimeout(timer)
      resolve('refused')
      if (on === 'hold') tell({ id, outcome: 'refused', event: 'ended' })
    })
  })
}

function tryUdp({ address, port = 0 }: ProbeRequest): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    const done = (outcome: ProbeOutcome) => {
      clearTimeout(timer)
      socket.close()
      resolve(outcome)
    }
    const timer = setTimeout(() => done('silent'), UDP_MS)
    socket.once('error', () => done('refused'))
    socket.once('message', () => done('answered'))
    // called with the error, too
    socket.connect(port, address, (error?: unknown) => {
      if (error === undefined || error === null) socket.send('x')
    })
  })
}

function tryPing({ address }: ProbeRequest): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const child = spawn('ping', ['-n', '-c', '1', '-W', '1', address], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let out = ''
    child.stdout.on('data', (part: Buffer) => (out += part.toString()))
    child.once('close', (code) => {
      if (code === 0) resolve('answered')
      else resolve(/prohibited|filtered|unreachable/i.test(out) ? 'refused' : 'silent')
    })
  })
}

/** A tunnel of the HTTP proxy on this machine, to an address and port. */
function tryHttp({ address, port = 0 }: ProbeRequest): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: 1080 })
    const timer = setTimeout(() => {
      resolve('silent')
      socket.destroy()
    }, 10_000)
    socket.write(`CONNECT ${address}:${port} HTTP/1.1\r\nHost: ${address}:${port}\r\n\r\n`)
    socket.once('data', (bytes) => {
      clearTimeout(timer)
      resolve(/^HTTP\/1\.[01] 200/.test(bytes.toString()) ? 'answered' : 'refused')
      socket.destroy()
    })
    socket.on('error', () => resolve('refused'))
  })
}

const TRIES = { icmp: tryPing, tcp: tryTcp, hold: tryTcp, udp: tryUdp, http: tryHttp }

await Promise.all(process.argv.slice(2).map(serve))
process.stdout.write('ready\n')
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const request = JSON.parse(line) as ProbeRequest
    void TRIES[request.on](request).then((outcome) => tell({ id: request.id, outcome }))
  })
  .on('close', () => process.exit())
