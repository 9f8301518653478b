/**
 * Names one leader among candidates: the one with the least peer id of those that were heard a moment ago. README.md says
 * what that promises.
 *
 * 1. Each candidate writes its own entry again and again.
 * 2. Each notes when it heard of every candidate last, by its own clock.
 * 3. It names nobody before it has listened for a whole lease.
 */
import type { Mesh } from '@mesh/node'

const BUCKET = 'election'
/** How often a candidate writes, in ms. */
const BEAT_MS = 1_000
/** A candidate that was not heard for so long is out, in ms. */
const LEASE_MS = 5_000

/** Takes part until the signal aborts, and calls `onLeader` with the peer id of each new leader. */
export async function takePart(
  mesh: Mesh,
  onLeader: (id: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const heardAt = new Map<string, number>()
  const listensSince = performance.now()
  let leader: string | undefined
  let beat = 0
  const look = () => {
    const now = performance.now()
    const alive = [...heardAt].filter(([, at]) => now - at < LEASE_MS).map(([id]) => id)
    const next = [mesh.id, ...alive].toSorted()[0]
    if (now - listensSince < LEASE_MS || next === leader || next === undefined) return
    leader = next
    onLeader(next)
  }
  const write = () => {
    look()
    mesh.ledger.put(BUCKET, mesh.id, ++beat).catch(() => {})
  }
  const beating = setInterval(write, BEAT_MS)
  try {
    write()
    for await (const { key, owner, isDeleted } of mesh.watch(BUCKET, { signal })) {
      // nobody speaks for another candidate
      if (key !== owner || key === mesh.id) continue
      if (isDeleted) heardAt.delete(key)
      else heardAt.set(key, performance.now())
      look()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearInterval(beating)
    // others need not wait for the end of the lease
    await mesh.ledger.delete(BUCKET, mesh.id)
  }
}
