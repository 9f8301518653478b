/** What members see of a node that ends cleanly, and of one that starts again. */
import { eventually } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { dig, whyNoDnsTools } from './dns-lab.ts'
import { createMesh, makeToken } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'

const why = whyNoDnsTools(['dig'])
const cleanUps = createCleanUps()

describe.skipIf(why !== undefined)(suiteName('a node that ends cleanly', why), () => {
  test('is offline and has no name at once, and has all of it back when it starts again', async () => {
    const mesh = createMesh()
    cleanUps.push(() => mesh.cleanUp())
    const token = makeToken()
    const stays = await mesh.start({ token, args: ['--dns=127.0.0.1:0'], until: 'dns listening' })
    const port = Number(stays.lines.find(({ message }) => message === 'dns listening')?.['port'])
    const args = [`--discovery-bootstrap-peers=${stays.addresses[0]}`]
    const leaves = await mesh.start({ token, args })
    const record = {
      PeerID: leaves.id,
      Hostname: 'laptop',
      OS: 'linux',
      Arch: 'amd64',
      Address: '10.1.0.5',
      Version: '',
    }
    await leaves.client.putJson({ bucket: 'machines', key: '10.1.0.5', body: record, wait: '20s' })
    const seen = async () => {
      const machine = (await stays.client.listMachines()).find(({ PeerID }) => PeerID === leaves.id)
      return [machine?.Online, (await dig(port, '+short', 'laptop.mesh')).trim()]
    }
    const soon = { withinMs: 10_000 }
    await eventually(async () => expect(await seen()).toEqual([true, '10.1.0.5']), soon)
    const { code, afterMs } = await leaves.stop()
    expect(code).toBe(0)
    expect(afterMs).toBeLessThan(3_000)
    await eventually(async () => expect(await seen()).toEqual([false, '']), { withinMs: 3_000 })
    const again = await mesh.start({ token, args, stateDir: leaves.stateDir })
    expect(again.id).toBe(leaves.id)
    await eventually(async () => expect(await seen()).toEqual([true, '10.1.0.5']), soon)
  })
})
