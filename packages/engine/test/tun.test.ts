/** The engine with the real kernel: interfaces in two network namespaces that only the engines join. */
import { spawn, spawnSync } from 'node:child_process'
import { eventually, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineSupport } from '../src/index.ts'
import { createPair, type Pair, startHost } from './hosts.ts'

const why = whyNot()

describe.skipIf(why !== undefined)(`two namespaces${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await createPair()
  })
  afterAll(async () => {
    await pair?.close()
  })

  it('gives the interface its addresses, MTU and state', () => {
    const shown = pair.lab.run('left', ['ip', '-o', 'addr', 'show', 'dev', 'mesh0'])
    expect(shown).toContain('inet 10.9.0.1/24')
    expect(shown).toContain('inet6 fd09::1/64')
    expect(pair.lab.run('left', ['ip', 'link', 'show', 'mesh0'])).toMatch(/[<,]UP[,>].* mtu 1280 /)
  })

  it('pings between them over both families, up to the MTU and beyond it', () => {
    for (const size of ['0', '56', '1200', '4000']) {
      for (const address of ['10.9.0.2', 'fd09::2']) {
        const quick = ['-c', '2', '-i', '0.05', '-W', '2']
        const answer = pair.lab.run('left', ['ping', '-n', ...quick, '-s', size, '-M', 'dont', address])
        expect(answer, `${size} bytes to ${address}`).toContain(' 0% packet loss')
      }
    }
  })

  it.skipIf(spawnSync('iperf3', ['--version']).status !== 0)('carries TCP and UDP at speed', async () => {
    const [command, ...args] = pair.lab.inside('right', ['iperf3', '-s', '--forceflush'])
    const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      await new Promise((resolve) => server.stdout.once('data', resolve))
      for (const flags of [
        ['-c', '10.9.0.2'],
        ['-c', 'fd09::2', '-R'],
        ['-c', '10.9.0.2', '-u', '-b', '20M'],
      ]) {
        const result = pair.lab.run('left', ['iperf3', ...flags, '-t', '1', '-J'])
        const { end } = JSON.parse(result) as { end: { sum?: Bits; sum_received?: Bits } }
        expect((end.sum_received ?? end.sum)?.bits_per_second).toBeGreaterThan(10e6)
      }
    } finally {
      server.kill()
    }
    const { peer, events } = await pair.left.ask('stats')
    // the kernel's own multicast never reaches a peer, and a burst may find the queue full
    expect(
      Object.keys((peer as { drops: object }).drops).filter((reason) => reason !== 'outboundFull'),
    ).toEqual([])
    expect(events).toEqual(expect.arrayContaining([expect.objectContaining({ type: 'session' })]))
  })

  it('changes addresses, routes and MTU while it runs', async () => {
    const { lab, left } = pair
    expect(await left.ask('routes 10.77.0.0/16 fd77::/48')).toEqual({ done: true })
    expect(lab.run('left', ['ip', 'route'])).toContain('10.77.0.0/16 dev mesh0')
    expect(lab.run('left', ['ip', '-6', 'route'])).toContain('fd77::/48 dev mesh0')
    expect(await left.ask('routes 10.78.0.0/16')).toEqual({ done: true })
    expect(lab.run('left', ['ip', 'route'])).not.toContain('10.77.0.0/16')
    expect(await left.ask('addresses 10.9.0.1/24 fd09::1/64 10.9.0.21/24 fd09::21/64')).toEqual({
      done: true,
    })
    expect(lab.run('left', ['ip', '-o', 'addr'])).toMatch(/10\.9\.0\.21\/24[^]*fd09::21\/64/)
    expect(await left.ask('addresses 10.9.0.1/24 fd09::1/64')).toEqual({ done: true })
    expect(lab.run('left', ['ip', '-o', 'addr'])).not.toContain('fd09::21')
    lab.run('left', ['ping', '-n', '-c', '1', '-W', '2', '10.9.0.2'])
  })

  it("never replaces a route of the host's, and names it", async () => {
    const { lab, left } = pair
    lab.run('left', ['ip', 'link', 'add', 'wan0', 'type', 'veth', 'peer', 'name', 'wan1'])
    for (const device of ['wan0', 'wan1']) lab.run('left', ['ip', 'link', 'set', device, 'up'])
    const routes = [
      '10.50.0.0/16 dev wan0 metric 100',
      '10.51.0.0/16 dev wan0',
      'fd50::/48 dev wan0 metric 50',
    ]
    for (const route of routes) lab.run('left', ['ip', 'route', 'add', ...route.split(' ')])
    try {
      const { error } = await left.ask('routes 10.50.0.0/16 10.51.0.0/16 fd50::/48 10.52.0.0/16')
      expect(error).toMatch(
        /: 10\.50\.0\.0\/16 goes by wan0, 10\.51\.0\.0\/16 goes by wan0, fd50::\/48 goes by wan0$/,
      )
      const shown = lab.run('left', ['ip', 'route']) + lab.run('left', ['ip', '-6', 'route'])
      expect(shown).toContain('10.52.0.0/16 dev mesh0')
      expect(shown.match(/^(10\.5[01]|fd50).*$/gm)).toEqual([
        expect.stringContaining('10.50.0.0/16 dev wan0'),
        expect.stringContaining('10.51.0.0/16 dev wan0'),
        expect.stringContaining('fd50::/48 dev wan0'),
      ])
      // free by now, so it is taken at the next call
      lab.run('left', ['ip', 'route', 'del', '10.51.0.0/16'])
      await left.ask('routes 10.50.0.0/16 10.51.0.0/16')
      expect(lab.run('left', ['ip', 'route'])).toContain('10.51.0.0/16 dev mesh0')
      expect(await left.ask('routes')).toEqual({ done: true })
      expect(lab.run('left', ['ip', 'route'])).toContain('10.50.0.0/16 dev wan0')
    } finally {
      lab.run('left', ['ip', 'link', 'del', 'wan0'])
    }
  })

  it('has addresses that can be used at once', async () => {
    const init = { name: 'mesh8', addresses: ['fd08::1/64'], allowed: [], mtu: 1280 }
    const host = startHost(pair.lab, 'left', init)
    try {
      expect(await host.next()).toEqual({ alone: true })
      // a tentative one cannot be bound, and to prove that it is unique takes a second at least
      const isBound = (address: string) =>
        eventually(async () => expect(await host.ask(`bind ${address}`)).toEqual({ bound: true }), {
          withinMs: 500,
        })
      await isBound('fd08::1')
      expect(await host.ask('addresses fd08::1/64 fd08::2/64')).toEqual({ done: true })
      await isBound('fd08::2')
    } finally {
      await host.kill()
    }
  })

  it.each(['mesh0', 'lo'])('says that the interface name %s is taken', async (name) => {
    const second = startHost(pair.lab, 'left', { name, addresses: [], allowed: [], mtu: 1280 })
    expect(await second.next()).toMatchObject({ error: { code: 'engine.name_in_use' } })
    await second.kill()
  })

  it('says that the interface was taken away', async () => {
    const host = startHost(pair.lab, 'left', {
      name: 'mesh7',
      addresses: ['10.7.0.1/24'],
      allowed: [],
      mtu: 1280,
    })
    try {
      expect(await host.next()).toEqual({ alone: true })
      pair.lab.run('left', ['ip', 'link', 'del', 'mesh7'])
      await eventually(async () => {
        const { events } = await host.ask('stats')
        expect(events).toContainEqual({ type: 'failed', message: expect.stringContaining('gone') })
      })
    } finally {
      await host.kill()
    }
  })

  it('leaves nothing behind, closed or killed', async () => {
    const { lab, left, right } = pair
    for (const host of [left, right])
      expect(await host.ask('routes 10.77.0.0/16 fd77::/48')).toEqual({ done: true })
    expect(await left.ask('close')).toEqual({ done: true })
    await right.kill('SIGKILL')
    for (const host of ['left', 'right']) {
      expect(lab.run(host, ['ip', '-o', 'link'])).not.toContain('mesh0')
      expect(lab.run(host, ['ip', '-o', 'addr'])).not.toMatch(/10\.9\.0|fd09:/)
      expect(lab.run(host, ['ip', 'route'])).toBe('')
      expect(lab.run(host, ['ip', '-6', 'route'])).not.toMatch(/fd09:|fd77:/)
    }
  })
})

interface Bits {
  readonly bits_per_second: number
}

function whyNot(): string | undefined {
  const support = engineSupport()
  return support.supported ? whyNoNamespaces(['ip', 'ping']) : support.message
}
