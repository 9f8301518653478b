/** Machines of one VPN in memory, as stories. */
import { cidrContains, parseCidr, parseIp } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { openMemoryEngine } from '@mesh/engine/testing'
import { afterEach, describe, expect, it } from 'vitest'
import type { ExitFault } from '../src/index.ts'
import { markOf } from '@mesh/vpn/testing'
import { addressInRange, createVpnLab, packet, type VpnLab, type VpnNode } from './vpn-lab.ts'

const SOON = { withinMs: 20_000 }
const whyNoAddon = reasonAgainstAddon()
const labs: VpnLab[] = []

afterEach(async () => {
  for (const made of labs.splice(0)) await made.stop()
})

describe.skipIf(whyNoAddon !== undefined)(`a VPN in memory${whyNoAddon ?? ''}`, { timeout: 60_000 }, () => {
  it('lets three machines talk, each with each, IPv4 and IPv6', async () => {
    const nodes = await lab().running(1, 2, 3)
    for (const from of nodes)
      for (const to of nodes)
        if (from !== to) {
          await pass(from, to, from.v4, to.v4)
          await pass(from, to, from.v6, to.v6)
        }
    const [a, b] = nodes as [VpnNode, VpnNode]
    const status = a.vpn.status()
    expect(status).toMatchObject({ state: 'running', ignored: {}, refusals: {} })
    expect(status.peers).toHaveLength(2)
    expect(status.peers.find(({ peer }) => peer === b.peer)).toMatchObject({
      hostname: 'host-2',
      addresses: ['10.1.0.2', b.v6],
      tunnel: 'wireguard',
      path: 'direct',
      transport: 'memory',
      mtu: 1280,
      counters: { packetsOut: 2, packetsIn: 2, drops: {} },
    })
    expect(a.events).toContainEqual({ type: 'session', peer: b.peer })
    expect(await a.vpn.probe(b.peer)).toEqual({
      peer: b.peer,
      tunnel: 'wireguard',
      path: 'direct',
      transport: 'memory',
      rttMs: 1,
      mtu: 1280,
      udp: { state: 'none', reason: 'off', endpoint: undefined, rttMs: undefined, candidates: [] },
    })
    expect(a.vpn.problems()).toEqual([])
  })

  it('writes its records again when what they say of the machine has changed', async () => {
    const forwarded: ('ipv4' | 'ipv6')[] = ['ipv4', 'ipv6']
    const faults: ExitFault[] = []
    const made = lab()
    const a = await made.node(1, {
      addresses: ['10.1.0.1/24'],
      advertiseExit: true,
      machine: {
        Hostname: 'gate',
        OS: 'linux',
        Arch: 'amd64',
        Version: '1',
        Exit: forwarded,
        ExitFaults: faults,
      },
    })
    const b = await made.node(2, { addresses: ['10.1.0.2/24'], exitNode: 'gate' })
    for (const node of [a, b]) await node.vpn.start()
    await eventually(() => expect(b.vpn.status().exit?.families).toEqual(['ipv4', 'ipv6']), SOON)
    forwarded.pop()
    a.vpn.announceAgain()
    await eventually(() => expect(b.vpn.status().exit?.families).toEqual(['ipv4']), SOON)
    await pass(a, b, a.v4, b.v4)
    const codes: string[][] = []
    b.vpn.subscribe(({ type }) => {
      if (type === 'problems') codes.push(b.vpn.problems().map(({ code }) => code))
    })
    faults.push('exit.firewall')
    a.vpn.announceAgain()
    await eventually(() => expect(codes.at(-1)).toEqual(['vpn.exit_one_family', 'vpn.exit_faulty']), SOON)
    faults.pop()
    a.vpn.announceAgain()
    await eventually(() => expect(codes.at(-1)).toEqual(['vpn.exit_one_family']), SOON)
  })

  it('announces what a machine record has, and keeps libp2p out of its ranges', async () => {
    const [a] = (await lab().running(1)) as [VpnNode]
    await eventually(() => {
      const value = a.ledger.snapshot().getLive('machines', a.v6)?.value ?? '{}'
      expect(JSON.parse(value)).toEqual({
        PeerID: a.peer,
        Hostname: 'host-1',
        OS: 'linux',
        Arch: 'amd64',
        Address: '10.1.0.1',
        Version: '1',
      })
    }, SOON)
    expect(a.blocked).toEqual(['10.1.0.0/24', expect.stringMatching(/^fd.*\/64$/)])
    expect(a.kernel.addresses).toEqual(['10.1.0.1/24', `${a.v6}/64`])
    expect(cidrContains(parseCidr(a.blocked[1] ?? ''), a.v6)).toBe(true)
  })

  it('drops and counts what is for nobody, once a machine is gone', async () => {
    const [a, b] = (await lab().running(1, 2)) as [VpnNode, VpnNode]
    await pass(a, b, a.v4, b.v4)
    const address = b.v4
    await b.vpn.stop()
    await b.ledger.delete('machines', address).settled
    await eventually(() => expect(a.vpn.status().peers[0]?.addresses).not.toContain(address), SOON)
    a.send(packet(a.v4, address, 100, 1))
    await eventually(() => expect(a.vpn.status().device.drops).toMatchObject({ noRoute: 1 }), SOON)
  })

  it('takes nothing from a machine that speaks for another', async () => {
    const [a, b, c] = (await lab().running(1, 2, 3)) as [VpnNode, VpnNode, VpnNode]
    await pass(a, b, a.v4, b.v4)
    a.send(packet(c.v4, b.v4, 100, 9))
    const countOfA = () => b.vpn.status().peers.find(({ peer }) => peer === a.peer)?.counters.drops
    await eventually(() => expect(countOfA()).toEqual({ spoofedSource: 1 }), SOON)
    expect(b.received()).toEqual([])
    await pass(a, b, a.v4, b.v4)
  })

  it('takes a route, and lets go of it when it is withdrawn', async () => {
    const { node, running } = lab()
    const [plainOne] = (await running(3)) as [VpnNode]
    const router = await node(2, {
      addresses: ['10.1.0.2/24'],
      advertiseRoutes: ['192.168.7.0/24', '10.1.0.128/25'].map(parseCidr),
      forwards: false,
    })
    await router.vpn.start()
    const a = await node(1, { addresses: ['10.1.0.1/24'], acceptRoutes: true })
    await a.vpn.start()
    await eventually(() => expect(a.kernel.routes).toEqual(['192.168.7.0/24']), SOON)
    expect(a.vpn.status().routes.accepted).toEqual([
      { range: '192.168.7.0/24', peer: router.peer, metric: 0, inKernel: true },
    ])
    expect(a.blocked).toContain('192.168.7.0/24')
    await eventually(() => expect(a.vpn.problems()).toMatchObject([{ code: 'vpn.route_not_taken' }]), SOON)
    expect(router.vpn.problems()).toMatchObject([
      { code: 'vpn.not_forwarding', hint: expect.stringContaining('ip_forward') },
    ])
    await pass(a, router, a.v4, '192.168.7.9')
    await pass(router, a, '192.168.7.9', a.v4)
    expect(plainOne.vpn.status().routes.accepted).toEqual([])

    await router.vpn.stop()
    await eventually(() => expect(a.kernel.routes).toEqual([]), SOON)
    expect(a.blocked).not.toContain('192.168.7.0/24')
    a.send(packet(a.v4, '192.168.7.9', 100, 1))
    await eventually(() => expect(a.vpn.status().device.drops).toMatchObject({ noRoute: 1 }), SOON)
  })

  it('ends the routes of an earlier run', async () => {
    const { node } = lab()
    const a = await node(1, { addresses: ['10.1.0.1/24'] })
    await a.ledger.put('routes', '192.168.7.0/24', JSON.stringify({ PeerID: a.peer })).settled
    await a.ledger.put('machines', '10.1.0.99', JSON.stringify({ PeerID: a.peer })).settled
    await a.vpn.start()
    await eventually(() => {
      expect(a.ledger.snapshot().getLive('routes', '192.168.7.0/24')).toBeUndefined()
      expect(a.ledger.snapshot().getLive('machines', '10.1.0.99')).toBeUndefined()
    }, SOON)
  })

  it('does not start with an address that another has, by name, and leaves nothing', async () => {
    const { node, running } = lab()
    await running(1)
    const second = await node(2, { addresses: ['10.1.0.1/24'] })
    await expect(second.vpn.start()).rejects.toMatchObject({
      code: 'vpn.address_taken',
      message: expect.stringContaining('host-1'),
    })
    expect(second.vpn.status()).toMatchObject({ state: 'stopped', interface: undefined, peers: [] })
    expect(second.blocked).toEqual([])
    expect(second.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).not.toBe(second.peer)
  })

  it.each([
    ['vpn.bad_mtu', { mtu: 575 }],
    ['vpn.no_ipv6', { mtu: 1200, addresses: ['fd00:1::1/64'] }],
    ['vpn.no_ipv6', { hasIpv6: false, addresses: ['fd00:1::1/64'] }],
    ['vpn.bad_address', { addresses: ['10.1.0.0/24'] }],
    ['vpn.bad_address', { addresses: ['fde5:4992:b126::1/64'] }],
    ['vpn.address_in_use', { addresses: ['192.168.1.9/16'] }],
    ['vpn.too_many', { advertiseRoutes: Array.from({ length: 65 }, () => parseCidr('10.9.0.0/16')) }],
  ])('refuses with %s before anything is touched', async (code, init) => {
    const eth0 = { interface: 'eth0', address: addressInRange('192.168.1.5/24') }
    const node = await lab().node(1, { addresses: ['10.1.0.1/24'], networks: [eth0], ...init })
    await expect(node.vpn.start()).rejects.toMatchObject({ code })
    expect(node.engines).toEqual([])
    expect(node.blocked).toEqual([])
  })

  it.each([
    ['the host has no IPv6', { hasIpv6: false }, ['vpn.no_ipv6']],
    ['the MTU is too small for IPv6', { mtu: 1279 }, []],
  ])('has IPv4 only where %s, and takes no IPv6 routes', async (_, init, problems) => {
    const { node } = lab()
    const router = await node(2, {
      addresses: ['10.1.0.2/24'],
      advertiseRoutes: ['192.168.7.0/24', 'fd99::/48'].map(parseCidr),
    })
    await router.vpn.start()
    const a = await node(1, { addresses: ['10.1.0.1/24'], acceptRoutes: true, ...init })
    await a.vpn.start()
    await eventually(() => expect(a.kernel.routes).toEqual(['192.168.7.0/24']), SOON)
    expect(a.vpn.addresses().map(({ address }) => address)).toEqual(['10.1.0.1'])
    expect(a.kernel.addresses).toEqual(['10.1.0.1/24'])
    expect(a.vpn.problems().map(({ code }) => code)).toEqual(problems)
    await pass(a, router, a.v4, router.v4)
  })

  it('leases an address, and another when it is lost', async () => {
    const { node } = lab({ mode: 'observe' })
    const [a, b] = [await node(1), await node(2, { addresses: ['10.1.0.77/24'] })]
    await b.vpn.start()
    await a.vpn.start()
    expect(a.events.filter(({ type }) => type === 'state')).toEqual([
      { type: 'state', state: 'leasing' },
      { type: 'state', state: 'running' },
    ])
    const first = a.v4
    expect(first).toMatch(/^10\.1\.0\.\d+$/)
    await pass(b, a, b.v4, first)

    await b.ledger.put('machines', first, JSON.stringify({ PeerID: b.peer })).settled
    await eventually(() => {
      expect(a.vpn.status().state).toBe('running')
      expect(a.v4).not.toBe(first)
    }, SOON)
    await eventually(() => expect(b.vpn.status().peers[0]?.addresses).toContain(a.v4), SOON)
    await pass(a, b, a.v4, b.v4)
    expect(a.kernel.addresses).toEqual([`${a.v4}/24`, `${a.v6}/64`])
    expect(a.events.filter(({ type }) => type === 'addresses').length).toBeGreaterThan(0)
  })

  it('gives up a fixed address that another holds, says so, and takes it again', async () => {
    const { running } = lab({ mode: 'observe' })
    const [a, b] = (await running(1, 2)) as [VpnNode, VpnNode]
    const v6 = a.v6
    await b.ledger.put('machines', '10.1.0.1', JSON.stringify({ PeerID: b.peer })).settled
    await eventually(() => expect(a.vpn.addresses().map(({ address }) => address)).toEqual([v6]), SOON)
    expect(a.kernel.addresses).toEqual([`${v6}/64`])
    expect(a.vpn.problems()).toMatchObject([{ code: 'vpn.address_taken', severity: 'error' }])
    await a.ledger.put('machines', '10.1.0.1', JSON.stringify({ PeerID: a.peer })).settled
    await eventually(() => expect(a.v4).toBe('10.1.0.1'), SOON)
    expect(a.vpn.problems()).toEqual([])
    await eventually(() => expect(b.vpn.status().peers[0]?.addresses).toContain('10.1.0.1'), SOON)
    await pass(b, a, b.v4, a.v4)
  })

  it('makes the interface again when it is taken away, once', async () => {
    const [a, b] = (await lab().running(1, 2)) as [VpnNode, VpnNode]
    await pass(a, b, a.v4, b.v4)
    a.engineSays({ type: 'failed', message: 'gone' })
    expect(a.vpn.interface).toBeUndefined()
    expect(a.vpn.problems()).toMatchObject([{ code: 'vpn.interface_lost' }])
    await eventually(() => expect(a.engines).toHaveLength(2), SOON)
    expect(a.kernel.addresses).toEqual(['10.1.0.1/24', `${a.v6}/64`])
    await pass(a, b, a.v4, b.v4)
    await pass(b, a, b.v4, a.v4)
    expect(a.vpn.problems()).toEqual([])

    a.engineSays({ type: 'failed', message: 'gone again' })
    expect(a.vpn.status().state).toBe('failed')
    expect(a.vpn.problems()).toMatchObject([{ title: expect.stringContaining('gone again') }])
  })

  it('can be stopped and aborted while it starts', async () => {
    const { node } = lab()
    const [aborted, stopped] = [await node(1), await node(2)]
    const controller = new AbortController()
    const starting = aborted.vpn.start(controller.signal)
    controller.abort(new Error('enough'))
    await expect(starting).rejects.toThrow('enough')
    const alsoStarting = stopped.vpn.start().catch((error: unknown) => error)
    await stopped.vpn.stop()
    await stopped.vpn.stop()
    expect(await alsoStarting).toMatchObject({ code: 'vpn.stopped' })
    for (const { vpn, blocked } of [aborted, stopped]) {
      expect(vpn.status()).toMatchObject({ state: 'stopped', interface: undefined })
      expect(blocked).toEqual([])
      await expect(vpn.probe(aborted.peer)).rejects.toMatchObject({ code: 'vpn.not_running' })
    }
  })

  it('knows no peer that has no machine', async () => {
    const { node, running } = lab()
    const [a] = (await running(1)) as [VpnNode]
    const stranger = await node(2)
    await expect(a.vpn.probe(stranger.peer)).rejects.toMatchObject({ code: 'vpn.unknown_peer' })
  })
})

function lab(init?: Parameters<typeof createVpnLab>[0]): VpnLab {
  const made = createVpnLab(init)
  labs.push(made)
  return made
}

let lastMark = 0

/** A packet gets through: what was on the way before may come, too. */
async function pass(from: VpnNode, to: VpnNode, source: string, destination: string): Promise<void> {
  const mark = (lastMark = (lastMark + 1) % 200)
  await eventually(() => expect([knows(from, destination), knows(to, source)]).toEqual([true, true]), SOON)
  from.send(packet(source, destination, 300, mark))
  const seen: number[] = []
  await eventually(() => {
    seen.push(...to.received().map(markOf))
    expect(seen).toContain(mark)
  }, SOON)
}

function knows({ vpn }: VpnNode, address: string): boolean {
  return vpn
    .status()
    .peers.some(
      ({ addresses, routes }) =>
        addresses.some((one) => one === address) ||
        routes.some((range) => cidrContains(range, parseIp(address))),
    )
}

function reasonAgainstAddon(): string | undefined {
  try {
    openMemoryEngine({ privateKey: new Uint8Array(32).fill(1), onEvent() {} }).close()
    return undefined
  } catch (error) {
    return `, skipped: ${error instanceof Error ? error.message : String(error)}`
  }
}
