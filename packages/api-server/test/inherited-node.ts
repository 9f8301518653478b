/** Run by listeners.test.ts: serves on descriptor 3 until its standard input ends. */
import { startTestNode } from './fixture.ts'

const node = await startTestNode()
const listener = await node.server.listen({ kind: 'inherited', descriptor: 3 })
process.stdout.write(
  `${JSON.stringify({ kind: listener.kind, url: listener.url, self: node.ledger.self })}\n`,
)
process.stdin.resume().on('end', () => {
  void node.stop().then(() => process.exit(0))
})
