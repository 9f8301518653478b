/** Asks a node for its health, and tells the node's own time from that of a busy machine. */
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { waitOfProcess, waitOfThread, waitsOfHelpers, workOfProcess } from './processor-wait.ts'

export interface Answer {
  /** 0 when there was none. */
  readonly status: number
  readonly text: string
}

export interface HealthTime {
  /** From the question to the answer, in ms; infinite when there was none. */
  readonly tookMs: number
  /**
   * The same without what the node's main thread, one that it may wait for, and the one that asks, waited for a processor;
   * no less than the main thread's own work meanwhile. In ms.
   */
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

/** Tells whether a node at a port for peers takes a connection and begins to agree on how it is encrypted; never rejects. */
export function isGreeted(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: GIVE_UP_MS })
    const end = (isAnswered: boolean) => {
      socket.destroy()
      resolve(isAnswered)
    }
    socket.once('connect', () => socket.write('\x13/multistream/1.0.0\n'))
    socket.once('data', () => end(true))
    socket.once('timeout', () => end(false))
    socket.on('error', () => end(false))
    socket.once('close', () => end(false))
  })
}

/** Takes the time of one answer of a process. */
export async function timeHealth(url: string, pid: number): Promise<HealthTime> {
  const own = watchOwnTime(pid)
  const began = performance.now()
  const answer = async () =>
    url.startsWith('tcp:') ? await isGreeted(url) : (await send('GET', url)).status !== 0
  // a connection that waited unused is closed by the node, and that of the next question is not
  const isAnswered = (await answer()) || (await answer())
  if (!isAnswered) return { tookMs: Number.POSITIVE_INFINITY, ownMs: Number.POSITIVE_INFINITY }
  const tookMs = performance.now() - began
  return { tookMs, ownMs: own(tookMs) }
}

/** Gives what tells how much of a time since now was a process's own, and not that of a busy machine, in ms. */
export function watchOwnTime(pid: number): (tookMs: number) => number {
  const waited = () => waitOfProcess(pid) + waitOfThread()
  const [waitedBefore, workBefore, helpersBefore] = [waited(), workOfProcess(pid), waitsOfHelpers(pid)]
  return (tookMs) => {
    const helpers = [...waitsOfHelpers(pid)].map(([thread, ms]) => ms - (helpersBefore.get(thread) ?? ms))
    const waitMs = waited() - waitedBefore + Math.max(0, ...helpers)
    return Math.max(0, Math.min(tookMs, workOfProcess(pid) - workBefore), tookMs - waitMs)
  }
}
