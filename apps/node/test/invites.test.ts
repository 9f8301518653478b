/** Invites on real processes: used twice in two parts of a network, used again, used after it was cancelled. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'

const SOON = { withinMs: 60_000, everyMs: 200 }
const mesh = createMesh()
let token = ''
let home: NodeProcess
afterAll(() => mesh.cleanUp())

async function print(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await mesh.run(args)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

const admin = (...args: string[]) => print('admin', ...args, `--api-url=${home.url}`)

interface Joining {
  readonly knows?: NodeProcess
  readonly invite?: string
  readonly stateDir?: string
}

function joinNode({ knows, invite, stateDir }: Joining = {}): Promise<NodeProcess> {
  const address = knows?.addresses.find((each) => each.includes('/tcp/') && !each.includes('/ws'))
  const args = [
    ...(address === undefined ? [] : [`--discovery-bootstrap-peers=${address}`]),
    ...(invite === undefined ? [] : [`--invite=${invite}`]),
  ]
  return mesh.start({ token, args, ...(stateDir !== undefined && { stateDir }) })
}

/** What each of several nodes says of some peers: whether they are in. */
async function membersAt({ client }: NodeProcess, peers: readonly NodeProcess[]): Promise<string[]> {
  const { Members } = await client.getAdmission()
  return peers.map(({ id }) => Members.find(({ PeerID }) => PeerID === id)?.State ?? 'unknown')
}

async function expectEqualLedgers(nodes: readonly NodeProcess[]): Promise<void> {
  await eventually(async () => {
    const [first, ...others] = await Promise.all(nodes.map(({ client }) => client.getDigest()))
    for (const other of others) expect(other.Buckets).toEqual(first?.Buckets)
  }, SOON)
}

async function notesAt({ client }: NodeProcess): Promise<string[]> {
  return Object.keys((await client.getBucket({ bucket: 'notes' })) as object).sort()
}

beforeAll(async () => {
  const [tokenFile, stateDir] = [join(mesh.folder, 'token'), mesh.makeFolder()]
  writeFileSync(tokenFile, makeToken(), { mode: 0o600 })
  token = await print('admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${stateDir}`)
  home = await joinNode({ stateDir })
})

test('one invite used in two parts of a network lets in the same one everywhere once they meet', async () => {
  let [left, right] = await Promise.all([joinNode({ knows: home }), joinNode({ knows: home })])
  for (const { id } of [left, right]) await admin('admit', id)
  const invite = JSON.parse(await admin('invite', '--label=tablet', '--json')) as {
    readonly Code: string
    readonly Link: string
  }
  await eventually(async () => {
    for (const each of [left, right]) {
      expect((await each.client.getAdmission()).Invites).toHaveLength(1)
      expect(await membersAt(each, [left, right])).toEqual(['admitted', 'admitted'])
    }
  }, SOON)

  // two parts, with ports that nobody knows, and the administrator in neither
  await Promise.all([home.stop(), left.stop(), right.stop()])
  ;[left, right] = await Promise.all([joinNode(left), joinNode(right)])
  const [owner, thief] = await Promise.all([
    joinNode({ knows: left, invite: invite.Code }),
    joinNode({ knows: right, invite: invite.Link }),
  ])
  await eventually(async () => {
    expect(await membersAt(left, [owner, thief])).toEqual(['provisional', 'unknown'])
    expect(await membersAt(right, [owner, thief])).toEqual(['unknown', 'provisional'])
  }, SOON)
  await owner.client.putText({ bucket: 'notes', key: 'owner', value: '1', wait: '5s' })
  await thief.client.putText({ bucket: 'notes', key: 'thief', value: '2', wait: '5s' })
  await left.client.putText({ bucket: 'notes', key: 'left', value: '3', wait: '5s' })
  await right.client.putText({ bucket: 'notes', key: 'right', value: '4', wait: '5s' })
  await eventually(async () => {
    expect(await notesAt(left)).toEqual(['left', 'owner'])
    expect(await notesAt(right)).toEqual(['right', 'thief'])
  }, SOON)

  // they meet: neither is in, and nothing of either is left
  await right.stop()
  right = await joinNode({ stateDir: right.stateDir, knows: left })
  await eventually(async () => {
    for (const each of [left, right]) expect(await notesAt(each)).toEqual(['left', 'right'])
  }, SOON)
  await expectEqualLedgers([left, right])
  home = await joinNode({ stateDir: home.stateDir, knows: left })
  await eventually(async () => {
    const { Invites } = await home.client.getAdmission()
    expect(Invites).toMatchObject([{ State: 'disputed', Claims: [owner.id, thief.id].sort() }])
  }, SOON)

  // a person decides; what that one wrote comes back from it
  await admin('admit', owner.id)
  await eventually(async () => {
    for (const each of [home, left, right]) {
      expect(await notesAt(each)).toEqual(['left', 'owner', 'right'])
      expect((await membersAt(each, [owner]))[0]).toBe('admitted')
    }
  }, SOON)
  await expectEqualLedgers([home, left, right, owner])
  // and a restart changes nothing of that
  await left.stop()
  left = await joinNode({ stateDir: left.stateDir, knows: home })
  await expectEqualLedgers([home, left, right, owner])
  expect(await membersAt(left, [owner])).toEqual(['admitted'])
}, 180_000)

test('an invite that was used or cancelled lets nobody in, and its node says so', async () => {
  const used = await admin('invite', '--expires=1h')
  const cancelled = JSON.parse(await admin('invite', '--json')) as {
    readonly Code: string
    readonly Invite: string
  }
  await admin('cancel', cancelled.Invite)
  const first = await joinNode({ knows: home, invite: used })
  await eventually(async () => expect(await membersAt(home, [first])).toEqual(['admitted']), SOON)
  const [second, late] = await Promise.all([
    joinNode({ knows: home, invite: used }),
    joinNode({ knows: home, invite: cancelled.Code }),
  ])
  const reasons = ['another peer used it', 'it was cancelled']
  await eventually(async () => {
    for (const [at, each] of [second, late].entries()) {
      const { Problems } = await each.client.getHealth()
      expect(Problems.map(({ Title }) => Title).join()).toContain(reasons[at])
      expect(await membersAt(home, [each])).toEqual(['waiting'])
    }
  }, SOON)
}, 120_000)

test('where approval is asked for, a machine with an invite waits until it is approved, for as long as is said', async () => {
  expect(await admin('approval', 'on')).toBe('invites need approval')
  const guest = await joinNode({ knows: home, invite: await admin('invite', '--member-for=8h') })
  await eventually(async () => expect(await membersAt(home, [guest])).toEqual(['waiting']), SOON)
  await eventually(async () => {
    const { Problems } = await guest.client.getHealth()
    expect(Problems.map(({ Code }) => Code)).toContain('trust.awaiting_approval')
  }, SOON)
  await admin('approve', guest.id)
  await eventually(async () => expect(await membersAt(guest, [guest])).toEqual(['admitted']), SOON)
  const endOf = async () =>
    (await home.client.getAdmission()).Members.find(({ PeerID }) => PeerID === guest.id)?.EndsAt ?? ''
  expect(Date.parse(await endOf()) - Date.now()).toBeGreaterThan(7 * 3_600_000)
  // a renewal
  expect(await admin('admit', guest.id, '--for=30d')).toContain('is let in until 20')
  expect(Date.parse(await endOf()) - Date.now()).toBeGreaterThan(29 * 24 * 3_600_000)
  const { code, stderr } = await mesh.run(['admin', 'approve', guest.id, `--api-url=${home.url}`])
  expect([code, stderr]).toEqual([2, expect.stringContaining('does not wait: it is admitted')])
  expect(await admin('approval', 'off')).toBe('invites need no approval')
})
