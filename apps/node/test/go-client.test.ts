/** The test suites of EdgeVPN's Go client, as they are, against a node that answers as EdgeVPN-compatible nodes do. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { buildGoClientSuites, whyNoGoClient } from './go-client.ts'
import { createMesh, makeToken } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'

const why = whyNoGoClient()
const cleanUps = createCleanUps()
const SUITE_TIMEOUT_MS = 240_000

describe.skipIf(why !== undefined)(suiteName("EdgeVPN's Go client", why), () => {
  test('its suites pass against a node with --api-values text', { timeout: 900_000 }, async () => {
    const mesh = createMesh()
    cleanUps.push(() => mesh.cleanUp())
    const suites = buildGoClientSuites()
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
