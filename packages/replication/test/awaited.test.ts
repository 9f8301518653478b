/** What a program awaits keeps its process alive, on a network without sockets too. */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'

/** A node that is alone, and whose seconds last ten milliseconds. */
const NETWORK = `
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger, createSigner } from '@mesh/ledger'
import { createReplicator } from '@mesh/replication'

const start = systemClock.now()
const clock = {
  now: () => start + (systemClock.now() - start) * 100,
  monotonic: () => systemClock.monotonic() * 100,
  after: (delayMs, run, options) => systemClock.after(delayMs / 100, run, options),
}
const ledger = createLedger({}, { signer: createSigner(systemRandom.bytes(32)), clock })
const topic = { publish: async () => 0, onMessage: () => () => {}, peers: () => [] }
const channels = {
  handle: async () => {},
  open: () => new Promise(() => {}),
  peersWith: () => [],
  onPeerWith: () => () => {},
}
const components = { ledger, topic, channels, clock, random: systemRandom, logger: silentLogger }
const replicator = createReplicator({}, components)
await replicator.start()
`

/** Runs a module in a process of its own, which ends when nothing keeps it alive. */
function runAlone(code: string) {
  const args = ['--conditions=mesh-source', '--input-type=module', '-e', NETWORK + code]
  const cwd = dirname(import.meta.dirname)
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('until the replicator is ready', () => {
  const code = "await replicator.ready()\nconsole.log('ready')\nawait replicator.stop()"
  expect(runAlone(code)).toEqual({ status: 0, stdout: 'ready\n', stderr: '' })
})

test('until a write that was held meanwhile is done', () => {
  const code = `
    const value = JSON.stringify({ PeerID: ledger.self, Name: 'web' })
    const { state } = await ledger.put('services', 'web', value).settled
    console.log(state)
    await replicator.stop()`
  expect(runAlone(code)).toEqual({ status: 0, stdout: 'committed\n', stderr: '' })
})

test('until a peer that does not answer has been waited for', () => {
  const code = `
    const { outcome } = await replicator.reconcile('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
    console.log(outcome)
    await replicator.stop()`
  expect(runAlone(code)).toEqual({ status: 0, stdout: 'failed\n', stderr: '' })
})
