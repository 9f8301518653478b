import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { freePort } from './free-port.ts'

const RANGE = '/proc/sys/net/ipv4/ip_local_port_range'

test('is none that a kernel gives to connections', async () => {
  const first = process.platform === 'linux' ? Number(readFileSync(RANGE, 'utf8').split('\t')[0]) : 32_768
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()))
  expect(Math.max(...ports)).toBeLessThan(first)
})

test('is none that somebody has, if only for UDP', async () => {
  const taken = await freePort()
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(taken, '127.0.0.1', resolve))
  const chance = vi.spyOn(Math, 'random').mockReturnValueOnce((taken - 16_384) / 16_384)
  try {
    expect(await freePort()).not.toBe(taken)
    expect(chance.mock.calls.length).toBeGreaterThan(1)
  } finally {
    chance.mockRestore()
    socket.close()
  }
})
