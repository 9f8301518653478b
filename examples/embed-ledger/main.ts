/** Two members in one process, or one in each browser tab: a BroadcastChannel carries their blocks. */
import { openTaskList } from './task-list.ts'

function join(name: string) {
  const channel = new BroadcastChannel('embed-ledger')
  const list = openTaskList((block) => channel.postMessage(block))
  const heard = new Promise<void>((resolve) => {
    channel.addEventListener('message', (event: MessageEvent<Uint8Array>) => {
      void list.hear(event.data).then(() => resolve())
    })
  })
  return { name, list, heard, leave: () => channel.close() }
}

const [ann, ben] = [join('Ann'), join('Ben')]
await ann.list.claim('water the plants')
await ben.heard
console.log(
  `Ben sees: ${ben.list
    .claims()
    .map(({ key }) => key)
    .join()}`,
)
try {
  await ben.list.claim('water the plants')
} catch (error) {
  console.log(`Ben is refused: ${(error as { code: string }).code}`)
}
for (const member of [ann, ben]) member.leave()
