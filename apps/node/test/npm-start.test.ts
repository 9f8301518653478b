/** What `npm start` says without a terminal, and what it leaves behind: nothing. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createMesh, makeToken } from './harness.ts'

const ROOT = join(import.meta.dirname, '../../..')
const FLAGS = ['--listen=127.0.0.1:0', '--mdns=false', '--natmap=false', '--private']

test.skipIf(process.platform === 'win32' || !existsSync(join(ROOT, 'apps/node/dist/main.js')))(
  'a node ends when the shell is ended in which npm started it, which hands no signal on',
  async () => {
    const mesh = createMesh()
    const words = { root: ROOT, args: [...FLAGS, `--state-dir=${mesh.folder}/state`] }
    const script = `import { start } from '${ROOT}/scripts/start.mjs'; await start(${JSON.stringify(words)})`
    // with a second command the shell stays, and does not become the first
    const shell = spawn('sh', ['-c', '"$0" --input-type=module -e "$1"; true', process.execPath, script], {
      env: { PATH: process.env['PATH'], HOME: mesh.folder, MESHTOKEN: makeToken() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    try {
      let [said, told] = ['', '']
      shell.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
      shell.stderr.setEncoding('utf8').on('data', (text: string) => (told += text))
      const url = await eventually(
        () => {
          const [, found] = /"api and web page","url":"([^"]*)"/.exec(said) ?? []
          expect(found).toBeDefined()
          return found
        },
        { withinMs: 20_000 },
      )
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      // beside the node's lines, which a program may read
      await eventually(() => expect(told.match(/^Join from this machine/gm)).toHaveLength(1))
      // it is found by no mDNS here, so that who joins is told where it is
      const id = /"id":"(\w+)"/.exec(told)?.[1]
      expect(told).toMatch(
        new RegExp(
          `--instance second .* --discovery-bootstrap-peers /ip4/127\\.0\\.0\\.1/tcp/\\d+/p2p/${id}$`,
          'm',
        ),
      )
      expect(said).not.toContain('Join from')
      shell.kill('SIGTERM')
      await eventually(() => expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed'), {
        withinMs: 20_000,
      })
    } finally {
      shell.kill('SIGKILL')
      await mesh.cleanUp()
    }
  },
  60_000,
)
