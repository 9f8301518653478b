/** HTTP load over kept-alive connections, bounded in time. */
import { Agent, request } from 'node:http'
import { round, spread } from './statistics.ts'

export interface LoadResult {
  readonly perSecond: number
  readonly latencyMs: { readonly median: number; readonly p99: number }
  readonly failed: number
}

/** Asks `url` over and over on `connections` connections for `forMs`. */
export async function measureLoad(url: string, forMs: number, connections = 8): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const latencies: number[] = []
  let failed = 0
  const began = performance.now()
  const worker = async () => {
    while (performance.now() - began < forMs) {
      const asked = performance.now()
      const status = await send(agent, 'GET', url)
      if (status === 200) latencies.push(performance.now() - asked)
      else failed++
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  const { median, p99 } = spread(latencies)
  return { perSecond: round(latencies.length / seconds, 0), latencyMs: { median, p99 }, failed }
}

/** Sends each request once, `connections` at a time; answers how many did not get a 200. */
export async function sendAll(method: string, urls: readonly string[], connections = 32): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let next = 0
  let failed = 0
  const worker = async () => {
    for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
      if ((await send(agent, method, url)) !== 200) failed++
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  agent.destroy()
  return failed
}

/** The status; 0 when there was no answer. */
function send(agent: Agent, method: string, url: string): Promise<number> {
  return new Promise((resolve) => {
    const asked = request(url, { method, agent, timeout: 20_000 }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', () => resolve(0))
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(0))
    asked.end()
  })
}
