/** The node that `page.ts` measures, in a process of its own: tells its CPU time and the changes when asked. */
import { startPlayedNode } from '../../apps/web-ui/test/support/played-node.ts'
import { buildPage } from '../../apps/web-ui/test/support/served-page.ts'

const MACHINES = 1_000
const ENTRIES = 10_000
const CHANGES_PER_SECOND = 50

const page = await buildPage()
const node = await startPlayedNode(MACHINES, page.assets)
for (let first = 0; first < ENTRIES; first += MACHINES) {
  const key = (at: number) => `sensor-${first + at}`
  const write = (at: number) => node.writeAs(at, 'sensors', key(at), { celsius: at % 40 })
  await Promise.all(Array.from({ length: MACHINES }, (_, at) => write(at)))
}
setInterval(() => node.network.step(), 1_000)
setInterval(() => void node.writeNext(), 1_000 / CHANGES_PER_SECOND)
let changes = 0
node.ledger.subscribe((event) => {
  if (event.type === 'committed') changes += event.changes.length
})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMs: (user + system) / 1_000, changes })
})
process.on('disconnect', () => process.exit())
process.send?.({ url: node.listener.url })
