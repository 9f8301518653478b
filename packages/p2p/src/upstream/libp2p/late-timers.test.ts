import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { generateNetworkConfig } from '@mesh/network'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createP2pNode } from '../../node.ts'

test('a host that has stopped leaves no timer behind', async () => {
  // other tests of this process have nodes that end
  const isOwn = new AsyncLocalStorage<boolean>()
  const timers = new Map<number, WeakRef<NodeJS.Timeout>>()
  const hook = createHook({
    init(id, type, _trigger, resource) {
      if (type === 'Timeout' && isOwn.getStore() === true)
        timers.set(id, new WeakRef(resource as NodeJS.Timeout))
    },
    destroy: (id) => void timers.delete(id),
  }).enable()
  onTestFinished(() => void hook.disable())
  const init = {
    network: generateNetworkConfig({}, systemRandom),
    listen: ['/ip4/127.0.0.1/tcp/0'],
    private: true,
    switches: { mdns: false, dht: false },
  }
  isOwn.enterWith(true)
  const parts = { clock: systemClock, random: systemRandom, logger: silentLogger }
  const first = await createP2pNode({ ...init, identity: systemRandom.bytes(32) }, parts)
  const second = await createP2pNode(
    { ...init, identity: systemRandom.bytes(32), bootstrapPeers: first.addresses() },
    parts,
  )
  await Promise.all([first.allTransportsReady, second.allTransportsReady])
  await second.connect(first.self, new AbortController().signal)
  await Promise.all([first.stop(), second.stop()])
  isOwn.enterWith(false)
  // hooks tell of timers that were cleared when the turn has ended; what libp2p leaves takes three seconds
  const holding = () => [...timers.values()].filter((timer) => timer.deref()?.hasRef() === true)
  await eventually(() => expect(holding()).toEqual([]), { withinMs: 1_000 })
})
