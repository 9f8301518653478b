/** The node behind `vite dev` where no real one is named: 30 machines that come, go, send and write. */
import type { Plugin, ProxyOptions } from 'vite'

const MACHINES = 30
const STEP_MS = 1_000

/** Plugin of vite that starts the node with the development server, and points the proxy at it. */
export function mockNode(proxy: ProxyOptions): Plugin {
  return {
    name: 'mock-node',
    apply: 'serve',
    async configureServer(server) {
      const support = '/test/support/played-node.ts'
      const { startPlayedNode } = (await server.ssrLoadModule(
        support,
      )) as typeof import('../test/support/played-node.ts')
      const node = await startPlayedNode(MACHINES)
      proxy.target = node.listener.url
      const timer = setInterval(() => {
        node.network.step()
        void node.writeNext()
      }, STEP_MS)
      server.httpServer?.once('close', () => {
        clearInterval(timer)
        void node.stop()
      })
    },
  }
}
