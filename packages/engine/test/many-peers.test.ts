/** One engine and 50 stock WireGuard peers, each with a session and packets both ways, on a wire between two namespaces. */
import { createLab, findWireTool, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineSupport } from '../src/index.ts'
import { type Host, startHost } from './hosts.ts'
import { makePeers, type ManyPeersResult, startManyPeers } from './many-peers.ts'

const COUNT = 50
/** As the engine's test program has it. */
const PRESHARED_KEY = '05'.repeat(32)
const SECONDS = 3

const support = engineSupport()
const tool = findWireTool()
const why =
  whyNoNamespaces(['ip']) ??
  (support.supported ? undefined : support.message) ??
  ('skipped' in tool ? tool.skipped : undefined)

describe.skipIf(why !== undefined)(`50 peers${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  const peers = makePeers(COUNT)
  const guestsOf = (some: typeof peers) => some.map(({ publicKey: key, address }) => ({ key, address }))
  let lab: Lab
  let ours: Host
  let key = ''
  let endpoint = ''

  beforeAll(async () => {
    lab = createLab(['left', 'right'])
    const end = (host: string, address: string) => ({ host, device: 'eth0', addresses: [address] })
    lab.wire(end('left', '192.168.9.1/24'), end('right', '192.168.9.2/24'))
    const addresses = ['10.9.0.1/16']
    ours = startHost(lab, 'left', {
      name: 'mesh0',
      mtu: 1280,
      addresses,
      allowed: [],
      guests: guestsOf(peers),
    })
    const line = await ours.next()
    key = String(line['publicKey'])
    endpoint = `192.168.9.1:${String(line['port'])}`
  })
  afterAll(async () => {
    await ours?.kill()
    lab?.close()
  })

  function run(some: typeof peers): Promise<ManyPeersResult> {
    const file = 'file' in tool ? tool.file : ''
    const to = { lab, host: 'right', file, endpoint, key, target: '10.9.0.1' }
    return startManyPeers({ ...to, presharedKey: PRESHARED_KEY, seconds: SECONDS, peers: some }).result
  }

  it('each have a session, and an answer to every packet', async () => {
    const { sessions, sent, answered, silent } = await run(peers)
    expect([sessions, silent]).toEqual([COUNT, 0])
    // the last ones may be on their way at the end
    expect(answered).toBeGreaterThanOrEqual(sent - COUNT)
    expect(sent).toBeGreaterThan(COUNT)
  })

  it('that are removed are silent at once, and the others go on', async () => {
    const [gone, staying] = [peers.slice(0, 10), peers.slice(10)]
    await ours.ask(`guests ${JSON.stringify(guestsOf(staying))}`)
    const { sessions, silent } = await run(peers)
    expect([sessions, silent]).toEqual([staying.length, gone.length])
  })
})
