/**
 * Sockets in a network namespace, for a test elsewhere. Reads commands from stdin, a line each, and answers with a line:
 * `listen PORT` echoes over TCP and UDP, `tcp ADDRESS PORT` and `udp ADDRESS PORT BYTES` say `echo` or the error's code,
 * `hold ADDRESS PORT` keeps a connection that `say` uses.
 */
import { createSocket } from 'node:dgram'
import { createConnection, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

const PATIENCE_MS = 3_000

let held: Socket | undefined
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [verb, ...words] = line.split(' ')
    void run(verb, words).then((result) => process.stdout.write(`${JSON.stringify({ result })}\n`))
  })
  .on('close', () => process.exit())

async function run(
  verb: string | undefined,
  [first = '', second, third]: readonly string[],
): Promise<string> {
  if (verb === 'listen') return listen(Number(first))
  if (verb === 'udp') return askDatagram(first, Number(second), Number(third))
  if (verb === 'say') return held === undefined ? 'nothing held' : say(held)
  const socket = createConnection({ host: first, port: Number(second) })
  if (verb === 'hold') held = socket
  const result = await say(socket)
  if (verb !== 'hold') socket.destroy()
  return result
}

async function listen(port: number): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
  await new Promise<void>((resolve) => server.listen(port, '::', resolve))
  const datagrams = createSocket('udp6')
  datagrams.on('message', (bytes, from) => datagrams.send(bytes, from.port, from.address))
  await new Promise<void>((resolve) => datagrams.bind(port, '::', resolve))
  return 'listening'
}

function say(socket: Socket): Promise<string> {
  return first((done) => {
    socket.once('data', () => done('echo'))
    socket.once('error', (error) => done(codeOf(error)))
    socket.once('end', () => done('end'))
    socket.write('hello')
  })
}

function askDatagram(address: string, port: number, bytes: number): Promise<string> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  return first((done) => {
    socket.once('error', (error) => done(codeOf(error)))
    socket.once('message', (echo) => done(echo.length === bytes ? 'echo' : 'another length'))
    socket.connect(port, address, () => socket.send(Buffer.alloc(bytes)))
  }).finally(() => socket.close())
}

function first(begin: (done: (result: string) => void) => void): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('silence'), PATIENCE_MS)
    begin((result) => {
      clearTimeout(timer)
      resolve(result)
    })
  })
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.message
}
