/** From the start of the built node's process to the API answering, the host listening and all transports listening. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LOOPBACK_ARGS, makeToken } from '../../apps/node/test/harness.ts'
import { round, spread } from './statistics.ts'

/** Enough for a median on a machine that does other things too. */
const RUNS = 15
const GIVE_UP_MS = 15_000
/** Below the ports that the system hands out by itself. */
const API_PORT = 18_150
const MAIN = join(import.meta.dirname, '../../apps/node/dist/main.js')

/** The first run fills the compile cache and is left out. Times in ms; `bare` is an empty script, for scale. */
export async function measureStartup() {
  const stateDir = mkdtempSync(join(tmpdir(), 'mesh-startup-'))
  try {
    const token = makeToken()
    const runs: Awaited<ReturnType<typeof startOnce>>[] = []
    const bare: number[] = []
    // in turns, so that both meet the same load
    for (let run = 0; run <= RUNS; run++) {
      runs.push(await startOnce(stateDir, token))
      bare.push(await startBare())
    }
    const kept = runs.slice(1)
    return {
      bareNodeMs: spread(bare, 0),
      apiAnswersMs: spread(
        kept.map((run) => run.api),
        0,
      ),
      hostListensMs: spread(
        kept.map((run) => run.host),
        0,
      ),
      allTransportsMs: spread(
        kept.map((run) => run.transports),
        0,
      ),
    }
  } finally {
    rmSync(stateDir, { recursive: true, force: true })
  }
}

async function startOnce(stateDir: string, token: string) {
  const began = performance.now()
  const args = [
    MAIN,
    'api',
    `--state-dir=${stateDir}`,
    '--log-format=json',
    `--listen=127.0.0.1:${API_PORT}`,
    ...LOOPBACK_ARGS,
  ]
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], HOME: stateDir, MESHTOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const at = (message: string) =>
    new Promise<number>((resolve, reject) => {
      const giveUp = setTimeout(() => reject(new Error(`no line "${message}"`)), GIVE_UP_MS)
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          if (!line.includes(`"${message}"`)) return
          clearTimeout(giveUp)
          resolve(performance.now() - began)
        })
      }
    })
  try {
    const [api, host, transports] = await Promise.all([
      // asked as soon as it listens: polling would take a processor from it
      at('api listening').then(() => answering(began)),
      at('host listening'),
      at('all transports listening'),
    ])
    return { api: round(api, 0), host: round(host, 0), transports: round(transports, 0) }
  } finally {
    child.kill('SIGTERM')
    await gone
  }
}

/** Until its summary came. */
async function answering(began: number): Promise<number> {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    get(`http://127.0.0.1:${API_PORT}/api/summary`, { agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    }).once('error', reject)
  })
  if (status !== 200) throw new Error(`the API answers ${status}`)
  return performance.now() - began
}

async function startBare(): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
  await new Promise((resolve) => child.once('exit', resolve))
  return performance.now() - began
}
