import { createSocket } from 'node:dgram'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@mesh/core'
import { freePort } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { writing } from './gather-machine.ts'
import { gatherNameServers } from './gather-name-servers.ts'
import { gatherPlaces } from './gather-places.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function listen(): Promise<number> {
  const server: Server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A DNS server that refuses every question, which is an answer. */
async function answerDns(): Promise<number> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port }) => {
    const answer = Buffer.from(query)
    answer.writeUInt16BE(0x8105, 2)
    socket.send(answer, port, '127.0.0.1')
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  ends.push(() => socket.close())
  return socket.address().port
}

test('of the addresses that a node would listen on, those that are taken are told with their option', async () => {
  const [taken, free, other] = [await listen(), await freePort(), await freePort()]
  const places = await gatherPlaces(
    {
      listen: `127.0.0.1:${taken}`,
      apiListen: 'unix:///run/a.sock',
      listenMaddrs: [
        `/ip4/127.0.0.1/tcp/${taken}/ws`,
        `/ip4/127.0.0.1/udp/${free}/quic-v1`,
        '/ip4/0.0.0.0/tcp/0',
      ],
      udpPort: 0,
      dns: [`127.0.0.1:${other}`],
    },
    systemClock,
  )
  expect(places.map(({ option, tried }) => [option, tried.works])).toEqual([
    ['--listen', false],
    ['--listen-maddrs', false],
    ['--listen-maddrs', true],
    ['--dns', true],
    ['--dns', true],
  ])
  expect(places[0]).toMatchObject({
    isDefault: false,
    tried: { reason: expect.stringContaining('EADDRINUSE') },
  })
})

test.skipIf(process.platform !== 'linux')(
  'a folder that nobody can write, or everybody, is told, to root too, and none is left behind',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'mesh-doctor-'))
    ends.push(() => rmSync(folder, { recursive: true }))
    expect(writing(join(folder, 'deep', 'down'))).toEqual({ works: true })
    expect(readdirSync(folder)).toEqual([])
    expect(writing('/proc/mesh')).toMatchObject({ works: false })
    chmodSync(folder, 0o777)
    expect(writing(join(folder, 'deep', 'down'))).toEqual({
      works: false,
      reason: `other users of this machine can write to the folder ${folder}`,
    })
  },
)

test('a DNS server that refuses answers, and one that is not there does not', async () => {
  const [answering, missing] = [`127.0.0.1:${await answerDns()}`, `127.0.0.1:${await freePort()}`]
  expect(await gatherNameServers(systemClock, [answering, missing])).toEqual([
    { address: answering, tried: { works: true } },
    { address: missing, tried: { works: false, reason: 'refused' } },
  ])
})
