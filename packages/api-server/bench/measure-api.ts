/** Requests per second of the API alone, with few and many entries; clients and server share this process. */
import { Agent, get } from 'node:http'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { createApiServer } from '../src/index.ts'

export interface ApiMeasure {
  readonly entries: number
  /** By path. */
  readonly perSecond: Readonly<Record<string, number>>
}

const PATHS = ['/api/summary', '/api/ledger/bench/key-1', '/api/ledger', '/api/blockchain'] as const
const CONNECTIONS = 8

export async function measureApi(sizes: readonly number[], forMs = 2000): Promise<readonly ApiMeasure[]> {
  const ledger = createLedger({}, { signer: createNodeSigner(systemRandom.bytes(32)) })
  const server = createApiServer(
    {},
    {
      ledger,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      version: { version: 'bench', protocols: () => [] },
      health: { problems: () => [], ready: () => true },
    },
  )
  const { url } = await server.listen({ kind: 'tcp', host: '127.0.0.1', port: 0 })
  const results: ApiMeasure[] = []
  let written = 0
  for (const entries of sizes) {
    const puts = Array.from({ length: entries - written }, () => {
      const at = written++
      return ledger.put('bench', `key-${at}`, JSON.stringify(`value-${at}`)).settled
    })
    await Promise.all(puts)
    const perSecond: Record<string, number> = {}
    for (const path of PATHS) perSecond[path] = await measurePath(url + path, forMs)
    results.push({ entries, perSecond })
  }
  await server.stop()
  await ledger.stop()
  return results
}

async function measurePath(url: string, forMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const end = performance.now() + forMs
  let answered = 0
  const worker = async () => {
    while (performance.now() < end) {
      await ask(agent, url)
      answered++
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  agent.destroy()
  return Math.round((answered * 1000) / forMs)
}

function ask(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
}
