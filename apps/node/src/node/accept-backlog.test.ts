import { once } from 'node:events'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { engineSupport } from '@mesh/engine'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { acceptBacklogs, loadEngineDuplicate } from './accept-backlog.ts'

const support = engineSupport()
const hasAddon = support.supported || support.code !== 'engine.no_addon'
const WAITING = 200

async function listen(): Promise<{ server: Server; accepted: Socket[]; port: number }> {
  const accepted: Socket[] = []
  const server = net.createServer((socket) => accepted.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of accepted) socket.destroy()
    server.close()
  })
  return { server, accepted, port: (server.address() as AddressInfo).port }
}

/** Opens connections all at once, and gives how many the server took in each turn of the event loop. */
async function takenByTurn(accepted: Socket[], port: number): Promise<readonly number[]> {
  const before = accepted.length
  const clients = Array.from({ length: WAITING }, () => net.connect(port, '127.0.0.1'))
  onTestFinished(() => {
    for (const client of clients) client.destroy()
  })
  const turns: number[] = []
  for (let seen = before; seen < before + WAITING; seen = accepted.length) {
    await new Promise((resolve) => setImmediate(resolve))
    turns.push(accepted.length - seen)
  }
  return turns
}

test('without it, a turn of the event loop takes one connection', async () => {
  const { accepted, port } = await listen()
  expect(Math.max(...(await takenByTurn(accepted, port)))).toBe(1)
})

test.skipIf(!hasAddon)('where many wait, a turn takes as many as there are descriptors', async () => {
  onTestFinished(acceptBacklogs({ loadDuplicate: loadEngineDuplicate }))
  const { server, accepted, port } = await listen()
  const turns = await takenByTurn(accepted, port)
  expect(Math.max(...turns)).toBeGreaterThan(8)
  expect(turns.filter((taken) => taken > 0).length).toBeLessThan(WAITING / 4)
  const connections = await new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
  expect(connections).toBe(WAITING)
})

test.skipIf(!hasAddon)('the port is free when the server is closed', async () => {
  onTestFinished(acceptBacklogs({ loadDuplicate: loadEngineDuplicate }))
  const { server, accepted, port } = await listen()
  await takenByTurn(accepted, port)
  for (const socket of accepted) socket.destroy()
  server.close()
  await once(server, 'close')
  const next = net.createServer()
  onTestFinished(() => void next.close())
  next.listen(port, '127.0.0.1')
  await once(next, 'listening')
  expect(next.listening).toBe(true)
})

test('without the addon a server goes on as it did', async () => {
  const loadDuplicate = () => Promise.reject(new Error('no addon'))
  onTestFinished(acceptBacklogs({ loadDuplicate }))
  const { accepted, port } = await listen()
  await takenByTurn(accepted, port)
  await eventually(() => expect(accepted).toHaveLength(WAITING))
})
