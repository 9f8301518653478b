/** What nodes are called: told to other members whether or not they have a VPN, and told apart where two are alike. */
import { createLab, eventually } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'
import { createVpnLab, whyNoVpn } from './vpn-lab.ts'
import { createCleanUps } from './suite.ts'

const why = whyNoVpn(['ip'])
const suite = why === undefined ? 'machines of one name' : `machines of one name (skipped: ${why})`

const cleanUps = createCleanUps()

function newMesh(): Mesh {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return mesh
}

async function namesSeenBy(node: NodeProcess): Promise<Record<string, string>> {
  const peers = await node.client.listPeers()
  return Object.fromEntries(peers.map(({ ID, Name }) => [ID, Name]))
}

test('nodes that serve only the API know each other by name', async () => {
  const mesh = newMesh()
  const token = makeToken()
  const first = await mesh.start({ token, args: ['--name=desk'] })
  const reach = `--discovery-bootstrap-peers=${first.addresses[0] ?? ''}`
  const second = await mesh.start({ token, args: ['--name', 'Shed-7', reach] })
  const third = await mesh.start({ token, args: [reach], environment: { MESHNAME: 'desk' } })
  expect(await second.client.getNode()).toMatchObject({ Name: 'Shed-7' })
  await eventually(
    async () => {
      expect(await namesSeenBy(first)).toEqual({ [second.id]: 'Shed-7', [third.id]: 'desk' })
      expect(await namesSeenBy(second)).toEqual({ [first.id]: 'desk', [third.id]: 'desk' })
    },
    { withinMs: 30_000 },
  )
  const { stdout } = await mesh.run(['status', `--state-dir=${second.stateDir}`])
  expect(stdout).toContain('Shed-7')
  for (const { id } of [first, third]) expect(stdout).toMatch(new RegExp(`^${id.slice(-8)} +desk `, 'm'))
})

test.each(['', '-a', 'a.b', 'a b', 'x'.repeat(64), 'naïve'])('%j is refused as a name', async (name) => {
  const { code, stderr } = await newMesh().run(['api', `--name=${name}`, `--token=${makeToken()}`])
  expect(code).toBe(2)
  expect(stderr).toContain('--name: expected')
})

describe.skipIf(why !== undefined)(suite, () => {
  test('have it in the ledger, and ping asks which of them is meant', async () => {
    const lab = createLab(['a', 'b', 'c'])
    const vpn = createVpnLab(lab)
    cleanUps.push(() => vpn.close())
    const wire = (host: string, net: string) =>
      lab.wire(
        { host: 'a', device: `${host}0`, addresses: [`192.168.${net}.1/24`] },
        { host, device: 'eth0', addresses: [`192.168.${net}.2/24`] },
      )
    wire('b', '94')
    wire('c', '95')
    const a = await vpn.start('a', ['--address=10.1.0.1/24', '--name=hub'])
    await Promise.all([
      vpn.start('b', ['--address=10.1.0.2/24', '--name=twin']),
      vpn.start('c', ['--address=10.1.0.3/24', '--name=Twin']),
    ])
    await eventually(
      async () => {
        const machines = await a.control.listMachines()
        const named = machines.flatMap(({ Address, Hostname }) =>
          Address.includes(':') ? [] : [[Address, Hostname]],
        )
        expect(Object.fromEntries(named)).toEqual({
          '10.1.0.1': 'hub',
          '10.1.0.2': 'twin',
          '10.1.0.3': 'Twin',
        })
      },
      { withinMs: 30_000 },
    )
    const asked = await vpn.mesh.run(['ping', 'twin', '--count=1', `--state-dir=${a.stateDir}`])
    expect(asked.code).toBe(2)
    expect(asked.stderr).toContain('10.1.0.2')
    expect(asked.stderr).toContain('10.1.0.3')
  })
})
