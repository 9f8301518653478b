/** A process whose node was stopped has nothing left to live for. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig } from '@mesh/network'
import { expect, test } from 'vitest'
import type { MemberSettings } from './member-process.ts'

const SCRIPT = fileURLToPath(new URL('member-process.ts', import.meta.url))
const token = encodeToken(generateNetworkConfig({}, systemRandom))

function start(settings: Partial<MemberSettings>) {
  const seed = Buffer.from(systemRandom.bytes(32)).toString('hex')
  const all = { token, seed, listen: ['/ip4/127.0.0.1/tcp/0'], private: true, switches: { mdns: false } }
  const child = spawn(
    process.execPath,
    ['--conditions=mesh-source', SCRIPT, JSON.stringify({ ...all, ...settings })],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout })
  const told = (name: string) =>
    new Promise<Record<string, unknown>>((resolve) => {
      lines.on('line', (line) => {
        const message = JSON.parse(line) as Record<string, unknown>
        if (name in message) resolve(message)
      })
    })
  return { child, told, ended: once(child, 'exit') }
}

test('it ends by itself soon after its node has stopped, with a member connected', async () => {
  const first = start({})
  const { addresses } = await first.told('ready')
  const second = start({ bootstrapPeers: addresses as string[] })
  try {
    await Promise.all([first.told('event'), second.told('event'), second.told('ready')])
    const stopped = second.told('stopped')
    second.child.stdin.end('stop\n')
    await stopped
    const since = performance.now()
    await second.ended
    expect(performance.now() - since).toBeLessThan(5_000)
  } finally {
    first.child.kill('SIGKILL')
    second.child.kill('SIGKILL')
    await Promise.all([first.ended, second.ended])
  }
}, 20_000)
