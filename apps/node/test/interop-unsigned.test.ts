/**
 * Networks that sign nothing: our nodes with ownership off beside EdgeVPN 0.35 with ownership off, and beside 0.34. Runs
 * where EDGEVPN_BIN and EDGEVPN34_BIN name the binaries. `MESH_INTEROP_MINUTES=10` writes for ten minutes.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { delay, systemClock } from '@mesh/core'
import { bridge, createLab, eventually, freePort } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import {
  type Edgevpn,
  type EdgevpnProgram,
  runEdgevpn,
  startEdgevpn,
  UNSIGNED_34,
  UNSIGNED_35,
  whyNoEdgevpn,
  whyNoEdgevpn34,
} from './edgevpn.ts'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { echoes, portOf, startEcho } from './service-lab.ts'
import { createCleanUps, suiteName } from './suite.ts'
import { createVpnLab, ping, pingSoon, whyNoVpn } from './vpn-lab.ts'

const OFF = '--ownership=off'
const MINUTES = Number(process.env['MESH_INTEROP_MINUTES'] ?? 0)
/** Writes of each node, two a second. */
const WRITES = Math.max(20, MINUTES * 120)
const SOON = { withinMs: 60_000, everyMs: 250 }

const cleanUps = createCleanUps()

/** One key of one node's bucket, as a member of either kind is asked for it. */
interface Member {
  readonly name: string
  put(key: string, value: string): Promise<unknown>
  delete(key: string): Promise<unknown>
  /** Keys and values of a bucket, and `notes` unless named. */
  held(bucket?: string): Promise<Record<string, unknown>>
}

function ourMember(name: string, node: NodeProcess): Member {
  const bucket = 'notes'
  return {
    name,
    put: (key, value) => node.client.putText({ bucket, key, value }),
    delete: (key) => node.client.deleteEntry({ bucket, key }),
    held: async (named = bucket) =>
      (await node.client.getBucket({ bucket: named })) as Record<string, unknown>,
  }
}

function theirMember(name: string, node: Edgevpn): Member {
  return {
    name,
    put: (key, value) => node.ask('PUT', `/api/ledger/notes/${key}/${value}`),
    delete: (key) => node.ask('DELETE', `/api/ledger/notes/${key}`),
    async held(bucket = 'notes') {
      const { json } = await node.ask('GET', `/api/ledger/${bucket}`)
      const texts = Object.entries((json ?? {}) as Record<string, string>)
      return Object.fromEntries(texts.map(([key, text]) => [key, JSON.parse(text) as unknown]))
    },
  }
}

/** Two of ours and one of theirs, which knows the first of ours alone. */
async function startStar(program: EdgevpnProgram) {
  const [token, mesh] = [makeToken(), createMesh()]
  cleanUps.push(() => mesh.cleanUp())
  const hub = await mesh.start({ token, args: [OFF] })
  const bootstrap = hub.addresses.find((address) => /\/tcp\/\d+\/p2p\//.test(address)) ?? ''
  const leaf = await mesh.start({ token, args: [OFF, `--discovery-bootstrap-peers=${bootstrap}`] })
  const flags = [
    '--mdns=false',
    '--listen-maddrs=/ip4/127.0.0.1/tcp/0',
    `--discovery-bootstrap-peers=${bootstrap}`,
  ]
  const edgevpn = await startEdgevpn({
    token,
    program,
    apiPort: await freePort(),
    args: [...flags, '--enable-healthchecks'],
  })
  cleanUps.push(() => edgevpn.stop())
  await eventually(async () => expect((await hub.client.getSummary({})).OnChainNodes).toBe(2), SOON)
  const members = [ourMember('hub', hub), ourMember('leaf', leaf), theirMember('theirs', edgevpn)]
  return { token, mesh, hub, leaf, edgevpn, flags, members }
}

type Star = Awaited<ReturnType<typeof startStar>>

/** EdgeVPN writes a key again that is deleted within 20 s of its write, so there may be more. */
async function allHold(members: readonly Member[], expected: object, bucket = 'notes') {
  await eventually(async () => {
    for (const member of members)
      expect({ [member.name]: await member.held(bucket) }).toMatchObject({ [member.name]: expected })
  }, SOON)
}

async function allLack(members: readonly Member[], key: string) {
  await eventually(async () => {
    for (const member of members) expect(Object.keys(await member.held())).not.toContain(key)
  }, SOON)
}

async function writesBothWays({ members }: Star) {
  const [hub, , theirs] = members as [Member, Member, Member]
  for (const member of members) {
    await member.put(member.name, 'first')
    await eventually(async () => expect(await hub.held()).toHaveProperty(member.name), SOON)
  }
  await allHold(members, { hub: 'first', leaf: 'first', theirs: 'first' })
  await hub.delete('theirs')
  await allLack(members, 'theirs')
  await theirs.delete('hub')
  await allLack(members, 'hub')
  await theirs.put('leaf', 'second')
  await allHold(members, { leaf: 'second' })
}

/** Five times all write at the same moment, and then each twice a second. */
async function racesLoseNothing({ members }: Star) {
  const expected: Record<string, string> = { leaf: 'second' }
  const write = async (key: string) => {
    await Promise.all(members.map((member) => member.put(`${member.name}-${key}`, key)))
    for (const { name } of members) expected[`${name}-${key}`] = key
  }
  for (let round = 0; round < 5; round++) {
    await write(`race${round}`)
    await delay(systemClock, 2_000)
  }
  for (let at = 0; at < WRITES; at++) {
    await write(`stream${at}`)
    await delay(systemClock, 500)
  }
  await allHold(members, expected)
}

describe.each([
  { program: UNSIGNED_35, why: whyNoEdgevpn() },
  { program: UNSIGNED_34, why: whyNoEdgevpn34() },
])('$program.name', ({ program, why }) => {
  describe.skipIf(why !== undefined)(suiteName('and ours with ownership off', why), () => {
    test('write, delete and race both ways, and nothing is lost', {
      timeout: 240_000 + 2 * MINUTES * 60_000,
    }, async () => {
      const star = await startStar(program)
      const { hub, leaf, edgevpn, members } = star
      // the first heartbeats stand within seconds of the start
      const ids = [hub.id, leaf.id, edgevpn.id].toSorted()
      await eventually(async () => {
        for (const member of members)
          expect(Object.keys(await member.held('healthcheck')).toSorted()).toEqual(ids)
      }, SOON)
      await writesBothWays(star)
      await racesLoseNothing(star)
      const { Ownership } = await hub.client.getNode()
      expect(Ownership).toBe('off')
      expect(await hub.client.getHealth()).toMatchObject({ Status: 'ok', Ownership: 'off' })
      expect((await star.mesh.run(['status', `--api-url=${hub.url}`])).stdout).toContain('ownership off')
    })

    test('services, files and names work both ways, and a node that starts again brings back nothing old', {
      timeout: 240_000,
    }, async () => {
      const { token, mesh, hub, leaf, edgevpn, flags, members } = await startStar(program)
      const echo = await startEcho()
      cleanUps.push(() => echo.close())
      const run = (args: readonly string[]) => {
        const theirs = runEdgevpn({ token, program, args, flags })
        cleanUps.push(() => theirs.stop())
      }
      const source = join(mesh.makeFolder(), 'ours.bin')
      const copy = join(mesh.makeFolder(), 'copy.bin')
      writeFileSync(source, randomBytes(500_000))
      await hub.client.putNodeFile({ name: 'file', body: { Path: source } })
      // EdgeVPN tries once, and a race of blocks may have taken its entry in `users` by then
      await eventually(
        async () => {
          run(['file-receive', '--name', 'file', '--path', copy])
          await eventually(() => expect(readFileSync(copy).equals(readFileSync(source))).toBe(true), {
            withinMs: 15_000,
          })
        },
        { withinMs: 60_000 },
      )
      run(['service-add', 'theirs', `127.0.0.1:${echo.port}`])
      const client = await mesh.start({
        command: 'service-connect',
        token,
        args: [OFF, flags[2] ?? '', 'theirs', '127.0.0.1:0'],
        until: 'service provider',
        startWithinMs: 90_000,
      })
      await echoes(await portOf(client, 'theirs'), 200_000)
      await hub.client.putNodeService({ name: 'ours', body: { Target: `127.0.0.1:${echo.port}` } })
      const port = await freePort()
      run(['service-connect', 'ours', `127.0.0.1:${port}`])
      await eventually(() => echoes(port, 100_000), { withinMs: 90_000, everyMs: 1_000 })
      await edgevpn.ask('POST', '/api/dns', { Regex: '^foo.bar.$', Records: { A: '2.2.2.2' } })
      await allHold(members, { '^foo.bar.$': expect.anything() as unknown }, 'dns')

      await leaf.client.putText({ bucket: 'notes', key: 'old', value: 'old' })
      await eventually(async () => expect(await members[2]?.held()).toHaveProperty('old'), SOON)
      const { stateDir } = leaf
      await leaf.stop()
      await hub.client.deleteEntry({ bucket: 'notes', key: 'old' })
      await eventually(async () => expect(await members[2]?.held()).not.toHaveProperty('old'), SOON)
      const again = await mesh.start({ token, stateDir, args: [OFF, flags[2] ?? ''] })
      await hub.client.putText({ bucket: 'notes', key: 'new', value: 'new' })
      const all = [members[0], ourMember('again', again), members[2]] as Member[]
      await allHold(all, { new: 'new' })
      await allLack(all, 'old')
    })

    test('a node that enforces ownership says that the members sign nothing', async () => {
      const [token, mesh] = [makeToken(), createMesh()]
      cleanUps.push(() => mesh.cleanUp())
      const node = await mesh.start({ token })
      const theirs = await startEdgevpn({
        token,
        program,
        apiPort: await freePort(),
        args: [
          '--mdns=false',
          '--listen-maddrs=/ip4/127.0.0.1/tcp/0',
          `--discovery-bootstrap-peers=${node.addresses[0]}`,
        ],
      })
      cleanUps.push(() => theirs.stop())
      await theirs.ask('POST', '/api/dns', { Regex: '^foo.bar.$', Records: { A: '2.2.2.2' } })
      await eventually(async () => {
        const { Problems } = await node.client.getHealth()
        expect(Problems.map(({ Code }) => Code)).toEqual(['ledger.unsigned'])
      }, SOON)
      for (const command of ['status', 'doctor']) {
        const { stdout } = await mesh.run([command, `--api-url=${node.url}`])
        expect(stdout).toContain('members of this network do not sign entries')
        expect(stdout).toContain('--ownership off')
      }
    })
  })

  const whyNot = why ?? whyNoVpn(['ip', 'ping', 'curl'])
  describe.skipIf(whyNot !== undefined)(suiteName('and our VPN with ownership off', whyNot), () => {
    test('find each other by mDNS, hold all machines and ping in all directions', {
      timeout: 240_000,
    }, async () => {
      const hosts = ['a', 'b', 'theirs']
      const lab = createLab(['switch', ...hosts])
      const vpn = createVpnLab(lab)
      cleanUps.push(() => vpn.close())
      bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.97.${at + 1}/24`]])))
      const edgevpn = await startEdgevpn({
        token: vpn.token,
        program,
        apiPort: 18097,
        vpnAddress: '10.1.0.3/24',
        prefix: lab.inside('theirs', []),
      })
      cleanUps.push(() => edgevpn.stop())
      const [a, b] = await Promise.all([
        vpn.start('a', ['--address=10.1.0.1/24', OFF]),
        vpn.start('b', ['--address=10.1.0.2/24', OFF]),
      ])
      const places = [
        { host: 'a', v4: a.v4 },
        { host: 'b', v4: b.v4 },
        { host: 'theirs', v4: '10.1.0.3' },
      ]
      const pairs = places.flatMap((from) => places.filter((to) => to !== from).map((to) => ({ from, to })))
      await Promise.all(pairs.map(({ from, to }) => pingSoon(lab, from.host, to.v4, 90_000)))
      for (const { from, to } of pairs) await ping(lab, from.host, to.v4, { count: 5 })
      await eventually(async () => {
        const machines = await theirMember('theirs', edgevpn).held('machines')
        expect(Object.keys(machines)).toEqual(expect.arrayContaining(places.map(({ v4 }) => v4)))
      }, SOON)
    })
  })
})
