/**
 * Commands that ask a node which nobody answers for: a DNS server that takes questions and says nothing, and an API that takes
 * connections and says nothing. Each ends in time, says why, and goes at once with Ctrl-C.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandResult, commandWords, createMesh, makeToken } from './harness.ts'
import { suiteName } from './suite.ts'

const why = whyNoNamespaces()
/** A name may take 10 s to be found, and the node 10 s to answer; the rest is for a machine that is busy. */
const ENDS_WITHIN_MS = 18_000
/** Takes DNS questions and HTTP requests, and tells of each on its standard output. */
const SILENT = `
  require('node:dgram').createSocket('udp4').on('message', () => console.log('question')).bind(53, '127.0.0.1')
  require('node:net').createServer((socket) => socket.on('error', () => {}).on('data', () => console.log('request')))
    .listen(8080, '127.0.0.1', () => console.log('listening'))`
const UNNAMED = 'http://node.example:8080'
const SPEECHLESS = 'http://127.0.0.1:8080'

describe.skipIf(why !== undefined)(suiteName('nobody answers', why), () => {
  const mesh = createMesh()
  let lab: Lab
  let silent: ChildProcess
  let told = ''
  const inside = (argv: readonly string[]) => lab.inside('host', argv)
  const settings = () => join('/etc/netns', lab.name('host'))

  beforeAll(async () => {
    lab = createLab(['host'])
    mkdirSync(settings(), { recursive: true })
    writeFileSync(join(settings(), 'resolv.conf'), 'nameserver 127.0.0.1\n')
    const [file, ...words] = inside([process.execPath, '-e', SILENT])
    silent = spawn(file, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    silent.stdout?.setEncoding('utf8').on('data', (text: string) => (told += text))
    await hears('listening')
  })
  afterAll(async () => {
    silent?.kill()
    await mesh.cleanUp()
    rmSync(settings(), { recursive: true, force: true })
    lab?.close()
  })

  const hears = (what: string) => eventually(() => expect(told).toContain(what), { withinMs: 20_000 })

  async function ask(words: string, url: string): Promise<CommandResult & { readonly afterMs: number }> {
    const began = performance.now()
    const result = await mesh.run([...words.split(' '), `--api-url=${url}`], { prefix: inside([]) })
    return { ...result, afterMs: performance.now() - began }
  }

  test('every command ends in time with 5 and says what is silent; the doctor says it among the rest', async () => {
    const asked = [
      ...['status --json', 'ping laptop', 'ledger watch', 'service-remove web'].map((words) => [
        words,
        UNNAMED,
      ]),
      ...['status', 'guest list --json', 'ledger put a b c'].map((words) => [words, SPEECHLESS]),
    ] as [string, string][]
    const [doctor, ...results] = await Promise.all([
      ask('doctor --json', UNNAMED),
      ...asked.map(([words, url]) => ask(words, url)),
    ])
    for (const [at, { code, stdout, stderr, afterMs }] of results.entries()) {
      const [words, url] = asked[at] ?? []
      const reason = url === UNNAMED ? 'which address node.example has' : `nothing answers at ${SPEECHLESS}`
      expect([words, code, stdout, stderr]).toEqual([words, 5, '', expect.stringContaining(reason)])
      expect(afterMs).toBeLessThan(ENDS_WITHIN_MS)
    }
    expect(doctor.afterMs).toBeLessThan(ENDS_WITHIN_MS)
    const checks = JSON.parse(doctor.stdout) as readonly { readonly Check: string; readonly Found: string }[]
    const found = new Map(checks.map(({ Check, Found }) => [Check, Found]))
    expect(found.get('node')).toContain('which address node.example has')
    expect(found.get('resolver')).toContain('127.0.0.1 (silent)')
  })

  test.each([
    ['status', UNNAMED, 'question'],
    ['ping laptop', SPEECHLESS, 'request'],
  ])('Ctrl-C ends %s at %s at once', async (words, url, sign) => {
    told = ''
    const [file, ...before] = inside([...commandWords(), ...words.split(' '), `--api-url=${url}`])
    const child = spawn(file, before, { stdio: 'ignore', detached: true })
    const ended = once(child, 'exit')
    await hears(sign)
    const asked = performance.now()
    // to all of its group, as a terminal does
    process.kill(-(child.pid ?? 0), 'SIGINT')
    await ended
    expect(performance.now() - asked).toBeLessThan(2_000)
  })
})

test('Ctrl-C ends what waits for a node that hangs', async () => {
  const mesh = createMesh()
  const token = makeToken()
  const node = await mesh.start({ token })
  const [file, ...before] = [...commandWords(), 'file-receive', 'nothing', `--state-dir=${node.stateDir}`]
  const child = spawn(file, before, {
    env: { ...process.env, MESHTOKEN: token },
    cwd: mesh.folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    let told = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text))
    await eventually(() => expect(told).toContain('waiting'), { withinMs: 20_000 })
    node.suspend()
    const asked = performance.now()
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    expect(performance.now() - asked).toBeLessThan(5_000)
  } finally {
    child.kill('SIGKILL')
    await mesh.cleanUp()
  }
})
