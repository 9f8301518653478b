/** The test suites of EdgeVPN's Go client, as they are, against a node that answers as EdgeVPN-compatible nodes do. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { buildGoProgram, type GoProgram, whyNoGoProgram } from './go-programs.ts'
import { createMesh, makeToken } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'

/** The client imports the server, which embeds a page that is built by other tools. */
const SUITES: readonly GoProgram[] = ['./api/client', './api/client/service'].map((suite, at) => ({
  name: `edgevpn-client-${at}`,
  variable: 'EDGEVPN_REPOSITORY',
  folder: 'edgevpn',
  commit: '97f8fed2e7c8146e95d6b3c6c75cf49228c14a6e', // 0.35.4
  suite,
  stubs: ['api/react-ui/dist/index.html', 'api/react-ui/dist/assets/none.js'],
  dropped: ['github.com/libp2p/go-libp2p-pubsub'],
}))
const why = SUITES.map(whyNoGoProgram)[0]
const cleanUps = createCleanUps()
const SUITE_TIMEOUT_MS = 240_000

describe.skipIf(why !== undefined)(suiteName("EdgeVPN's Go client", why), () => {
  test('its suites pass against a node with --api-values text', { timeout: 900_000 }, async () => {
    const mesh = createMesh()
    cleanUps.push(() => mesh.cleanUp())
    const suites = SUITES.map(buildGoProgram)
    const node = await mesh.start({ token: makeToken(), args: ['--api-values=text'] })
    for (const suite of suites) {
      const { stdout } = await promisify(execFile)(suite, ['-test.v', '-ginkgo.no-color'], {
        env: { PATH: process.env['PATH'], HOME: mesh.folder, TEST_INSTANCE: node.url },
        cwd: mesh.folder,
        timeout: SUITE_TIMEOUT_MS,
      })
      expect(stdout).toMatch(/^PASS$/m)
      expect(stdout).toMatch(/\b[1-9]\d* Passed\b.*\b0 Failed\b/)
    }
  })
})
