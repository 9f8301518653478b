/** Asks a node for its health, and tells the node's own time from that of a busy machine. */
import { Agent, request } from 'node:http'
import { waitOfProcess, waitOfThread } from './processor-wait.ts'

export interface Answer {
  /** 0 when there was none. */
  readonly status: number
  readonly text: string
}

export interface HealthTime {
  /** From the question to the answer, in ms; infinite when there was none. */
  readonly tookMs: number
  /** The same without what the node's main thread, and the one that asks, waited for a processor, in ms. */
  readonly ownMs: number
}

/** How long an answer is waited for, in ms. */
const GIVE_UP_MS = 30_000
const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** Asks once; never rejects. */
export function send(method: string, url: string): Promise<Answer> {
  return new Promise((resolve) => {
    const failed = () => resolve({ status: 0, text: '' })
    const asked = request(url, { method, agent, timeout: GIVE_UP_MS }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.once('error', failed)
    })
    asked.once('timeout', () => asked.destroy())
    // a node may close a connection that it kept in the moment in which it is used again
    asked.once('error', () => (asked.reusedSocket ? resolve(send(method, url)) : failed()))
    asked.end()
  })
}

/** Takes the time of one answer of a process. */
export async function timeHealth(url: string, pid: number): Promise<HealthTime> {
  const waited = () => waitOfProcess(pid) + waitOfThread()
  const [began, before] = [performance.now(), waited()]
  const { status } = await send('GET', url)
  const tookMs = performance.now() - began
  if (status === 0) return { tookMs: Number.POSITIVE_INFINITY, ownMs: Number.POSITIVE_INFINITY }
  return { tookMs, ownMs: Math.max(0, tookMs - (waited() - before)) }
}
