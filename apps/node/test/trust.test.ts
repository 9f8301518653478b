/**
 * Who may use a network, on real processes: administrators by the command line, and the peer gate beside EdgeVPN nodes,
 * where EDGEVPN_BIN names the binary.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, freePort } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { startEdgevpn, whyNoEdgevpn } from './edgevpn.ts'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'

const SOON = { withinMs: 30_000, everyMs: 100 }
const why = whyNoEdgevpn()
const cleanUps = createCleanUps()

function newMesh(): Mesh {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  return mesh
}

function bootstrapOf({ addresses }: NodeProcess): string {
  const address = addresses.find((each) => each.includes('/tcp/') && !each.includes('/ws')) ?? ''
  return `--discovery-bootstrap-peers=${address}`
}

/** Runs a command to its end; gives what it printed. */
async function print(mesh: Mesh, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await mesh.run(args)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

test('an administrator invites and shuts out by the command line, and that outlives a restart', async () => {
  const mesh = newMesh()
  const [tokenFile, stateDir] = [join(mesh.folder, 'token'), mesh.makeFolder()]
  writeFileSync(tokenFile, makeToken(), { mode: 0o600 })
  const token = await print(mesh, 'admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${stateDir}`)
  const again = await print(mesh, 'admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${stateDir}`)
  expect(again).toBe(token)
  const home = await mesh.start({ token, stateDir })
  const admin = ({ url }: NodeProcess, ...args: string[]) => print(mesh, 'admin', ...args, `--api-url=${url}`)

  const code = await admin(home, 'invite', '--expires=1h', '--label=laptop')
  const guest = await mesh.start({ token, args: [bootstrapOf(home), `--invite=${code}`, '--name=laptop'] })
  await eventually(async () => {
    const { Members, Invites } = await home.client.getAdmission()
    expect(Members).toContainEqual(expect.objectContaining({ PeerID: guest.id, State: 'admitted' }))
    expect(Invites).toMatchObject([{ State: 'used', Claims: [guest.id] }])
  }, SOON)
  await guest.client.putText({ bucket: 'notes', key: 'a', value: '1', wait: '5s' })
  await eventually(
    async () => expect(await home.client.getBucket({ bucket: 'notes' })).toEqual({ a: '1' }),
    SOON,
  )

  await admin(home, 'revoke', guest.id)
  const isOut = async ({ client }: NodeProcess) =>
    (await client.listPeers()).every(({ ID, Connected }) => ID !== guest.id || !Connected)
  await eventually(async () => expect(await isOut(home)).toBe(true), SOON)
  await guest.client.putText({ bucket: 'notes', key: 'b', value: '2' })
  const port = new URL(bootstrapOf(home).replace(/.*\/tcp\/(\d+).*/, 'http://x:$1')).port
  await home.stop()
  const args = [`--listen-maddrs=/ip4/127.0.0.1/tcp/${port}`]
  const back = await mesh.start({ token, stateDir, args })
  // the guest dials its bootstrap peer again and again
  await eventually(async () => {
    const refused = /host\.blocked_peer"\} [1-9]/
    expect(await back.client.getMetrics()).toMatch(refused)
  }, SOON)
  expect(await isOut(back)).toBe(true)
  expect(await back.client.getBucket({ bucket: 'notes' })).toEqual({ a: '1' })
  expect(await admin(back, 'list')).toMatch(/revoked/)
  const { code: failed, stderr } = await mesh.run(['admin', 'revoke', 'nobody', `--api-url=${back.url}`])
  expect([failed, stderr]).toEqual([2, expect.stringContaining('no member is called')])
})

test('a gate that is on from the start keeps strangers out, and who proves itself gets in', async () => {
  const mesh = newMesh()
  const token = makeToken()
  const { PrivateKey, PublicKey } = await generateKey(mesh)
  const guard = ['--peerguard', '--peergate', '--peergate-strict', '--peergate-interval=2s']
  const auth = `--peergate-auth=${JSON.stringify({ ecdsa: { private_key: PrivateKey } })}`
  const node = await mesh.start({ token, args: [...guard, auth] })
  expect(await node.client.getPeergate()).toBe(true)
  await node.client.putText({ bucket: 'trustzoneAuth', key: 'ecdsa_1', value: PublicKey, wait: '5s' })
  const [friend, stranger] = await Promise.all([
    mesh.start({ token, args: [bootstrapOf(node), ...guard, auth] }),
    mesh.start({ token, args: [bootstrapOf(node)] }),
  ])
  await friend.client.putText({ bucket: 'trustzoneAuth', key: 'ecdsa_1', value: PublicKey }).catch(() => {})
  await stranger.client.putText({ bucket: 'notes', key: 'strange', value: '1', wait: '5s' })
  await friend.client.putText({ bucket: 'notes', key: 'friendly', value: '2', wait: '5s' })
  const notes = async () => Object.keys((await node.client.getBucket({ bucket: 'notes' })) as object).sort()
  await eventually(async () => expect(await notes()).toEqual(['friendly']), SOON)
  await eventually(
    async () => expect(await node.client.getMetrics()).toMatch(/not_admitted"\} [1-9]|"GATED"\} [1-9]/),
    SOON,
  )
  expect(await notes()).toEqual(['friendly'])

  // what was refused is compared anew as soon as the gate is off
  expect(await node.client.putPeergate({ state: 'disable' })).toBe(false)
  await eventually(async () => expect(await notes()).toEqual(['friendly', 'strange']), {
    withinMs: 20_000,
    everyMs: 100,
  })
  expect(await node.client.putPeergate({ state: 'enable' })).toBe(true)
  await stranger.client.putText({ bucket: 'notes', key: 'stranger', value: '3', wait: '5s' })
  await friend.client.putText({ bucket: 'notes', key: 'zone', value: '4', wait: '5s' })
  await eventually(async () => expect(await notes()).toContain('zone'), SOON)
  expect(await notes()).not.toContain('stranger')
})

async function generateKey(mesh: Mesh) {
  const text = await print(mesh, 'peergater', 'ecdsa-genkey')
  const [, PrivateKey = '', PublicKey = ''] = /^Private key: (\S+)\nPublic key: (\S+)$/.exec(text) ?? []
  return { PrivateKey, PublicKey }
}

describe.skipIf(why !== undefined)(suiteName('with EdgeVPN', why), () => {
  test('challenge and gate work both ways', async () => {
    const mesh = newMesh()
    const token = makeToken()
    const genkey = async () => {
      const { PrivateKey, PublicKey } = await generateKey(mesh)
      return { publicKey: PublicKey, auth: JSON.stringify({ ecdsa: { private_key: PrivateKey } }) }
    }
    const [ours, theirs] = await Promise.all([genkey(), genkey()])
    const node = await mesh.start({
      token,
      args: ['--peerguard', '--peergate-interval=2s', `--peergate-auth=${ours.auth}`],
    })
    const bootstrap = bootstrapOf(node).split('=')[1] ?? ''
    const stranger = await mesh.start({ token, args: [bootstrapOf(node)] })
    const edgevpn = await startEdgevpn({
      token,
      apiPort: await freePort(),
      args: [
        '--peerguard',
        '--peergate-interval',
        '2',
        '--peergate-auth',
        theirs.auth,
        '--mdns=false',
        '--listen-maddrs',
        '/ip4/127.0.0.1/tcp/0',
        '--discovery-bootstrap-peers',
        bootstrap,
      ],
    })
    cleanUps.push(() => edgevpn.stop())

    await edgevpn.ask('PUT', `/api/ledger/trustzoneAuth/ecdsa_ours/${ours.publicKey}`)
    await node.client.putText({ bucket: 'trustzoneAuth', key: 'ecdsa_theirs', value: theirs.publicKey })
    await eventually(
      async () => {
        const { trustzone = {} } = (await node.client.getBlock({})).Storage
        expect(trustzone[node.id]?.Owner).toBe(edgevpn.id)
        expect(trustzone[edgevpn.id]?.Owner).toBe(node.id)
        expect(Object.keys((await edgevpn.ask('GET', '/api/ledger/trustzone')).json as object)).toHaveLength(
          2,
        )
      },
      { withinMs: 60_000, everyMs: 250 },
    )

    expect(await node.client.putPeergate({ state: 'enable' })).toBe(true)
    await edgevpn.ask('PUT', '/api/peergate/enable')
    await node.client.putText({ bucket: 'shared', key: 'ours', value: '1' })
    await edgevpn.ask('PUT', '/api/ledger/shared/theirs/2')
    await stranger.client.putText({ bucket: 'shared', key: 'strange', value: '3' })
    await eventually(async () => {
      expect(await node.client.getBucket({ bucket: 'shared' })).toEqual({ ours: '1', theirs: '2' })
      const { json } = await edgevpn.ask('GET', '/api/ledger/shared')
      expect(json).toMatchObject({ ours: '"1"', theirs: '"2"' })
    }, SOON)
    await eventually(
      async () => expect(await node.client.getMetrics()).toMatch(/topic\.not_admitted"\} [1-9]/),
      SOON,
    )
    expect(await node.client.getBucket({ bucket: 'shared' })).not.toHaveProperty('strange')
    await node.client.putPeergate({ state: 'disable' })
    await stranger.client.putText({ bucket: 'shared', key: 'strange', value: '4' })
    await eventually(
      async () => expect(await node.client.getBucket({ bucket: 'shared' })).toHaveProperty('strange', '4'),
      SOON,
    )
    await expect(stranger.client.getPeergate()).rejects.toMatchObject({ status: 404 })
  })
})
