import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { listenAtEachAddress } from './each-address.ts'

/** A clock whose one timer the test lets run out. */
function createTimer() {
  let due: (() => void) | undefined
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after(_delayMs, run) {
      due = run
      return () => (due = undefined)
    },
  }
  const runOut = async () => {
    const run = due
    due = undefined
    run?.()
    await setImmediate()
  }
  return { clock, runOut, isRunning: () => due !== undefined }
}

/** Addresses of a machine, and the listeners at them. */
function createMachine(addresses: readonly string[]) {
  const machine = {
    addresses,
    refused: new Map<string, string>(),
    open: new Set<string>(),
    told: [] as string[],
  }
  const timer = createTimer()
  let changes = 0
  const listen = (port: number) =>
    listenAtEachAddress({
      addresses: () => machine.addresses,
      port,
      clock: timer.clock,
      onChange: () => changes++,
      onRefused: (address) => machine.told.push(address),
      async open(address, at) {
        const code = machine.refused.get(address)
        if (code !== undefined) throw Object.assign(new Error(code), { code })
        const place = `${address} ${at === 0 ? 4711 : at}`
        machine.open.add(place)
        return {
          port: at === 0 ? 4711 : at,
          async stop() {
            machine.open.delete(place)
          },
        }
      },
    })
  return { machine, timer, listen, changes: () => changes }
}

test('each address has a listener on the same port, and none is left at the end', async () => {
  const { machine, timer, listen } = createMachine(['127.0.0.1', '192.0.2.1'])
  const listening = await listen(0)
  expect(listening.port).toBe(4711)
  expect([...machine.open]).toEqual(['127.0.0.1 4711', '192.0.2.1 4711'])
  await listening.stop()
  expect(machine.open.size).toBe(0)
  expect(timer.isRunning()).toBe(false)
})

test('addresses that come and go are followed', async () => {
  const { machine, timer, listen, changes } = createMachine(['127.0.0.1', '192.0.2.1'])
  await listen(53)
  machine.addresses = ['127.0.0.1', '198.51.100.7']
  await timer.runOut()
  expect([...machine.open]).toEqual(['127.0.0.1 53', '198.51.100.7 53'])
  await timer.runOut()
  expect(changes()).toBe(1)
})

test('an address in use rejects, and nothing is left', async () => {
  const { machine, timer, listen } = createMachine(['127.0.0.1', '192.0.2.1'])
  machine.refused.set('192.0.2.1', 'EADDRINUSE')
  await expect(listen(53)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect([machine.open.size, timer.isRunning()]).toEqual([0, false])
})

test('an address that is not ready yet is tried again, and one that somebody took is told once', async () => {
  const { machine, timer, listen } = createMachine(['127.0.0.1', '2001:db8::1'])
  machine.refused.set('2001:db8::1', 'EADDRNOTAVAIL')
  await listen(53)
  machine.addresses = [...machine.addresses, '192.0.2.9']
  machine.refused.set('192.0.2.9', 'EADDRINUSE')
  for (let look = 0; look < 3; look++) await timer.runOut()
  expect(machine.told).toEqual(['192.0.2.9'])
  machine.refused.clear()
  await timer.runOut()
  expect([...machine.open]).toEqual(['127.0.0.1 53', '2001:db8::1 53', '192.0.2.9 53'])
})
