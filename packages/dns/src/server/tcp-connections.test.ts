import { expect, test } from 'vitest'
import { MAX_TCP_CONNECTIONS, MAX_TCP_CONNECTIONS_PER_ADDRESS } from '../limits.ts'
import { clientOf } from './clients.ts'
import { createTcpConnections } from './tcp-connections.ts'

const from = (address: string) => clientOf(address, [])

test('where a few networks have all connections, one of theirs makes way for each that comes from another', () => {
  const connections = createTcpConnections()
  const networks = MAX_TCP_CONNECTIONS / MAX_TCP_CONNECTIONS_PER_ADDRESS
  const ended: string[] = []
  const enter = (address: string) => connections.enter(from(address), () => void ended.push(address))
  for (let at = 0; at < MAX_TCP_CONNECTIONS; at++)
    expect(enter(`203.0.${at % networks}.${Math.floor(at / networks)}`)).toBeDefined()
  expect(enter('203.0.0.99')).toBeUndefined()
  expect(ended).toEqual([])
  const leave = enter('198.51.100.1')
  expect(leave).toBeDefined()
  expect(ended).toHaveLength(1)
  expect(enter('127.0.0.1')).toBeDefined()
  expect(ended).toHaveLength(2)
  leave?.()
  leave?.()
  expect(enter('198.51.100.2')).toBeDefined()
  expect(ended).toHaveLength(2)
})

test('as many networks as there are connections leave none', () => {
  const connections = createTcpConnections()
  const ended: number[] = []
  for (let at = 0; at < MAX_TCP_CONNECTIONS; at++)
    connections.enter(from(`203.${at % 250}.${at}.1`), () => void ended.push(at))
  expect(connections.enter(from('198.51.100.1'), () => {})).toBeUndefined()
  expect(ended).toEqual([])
})
