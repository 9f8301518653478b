/** A burst of distinct PUTs over HTTP: how long until another member can read them all, and does the API answer meanwhile? */
import { createMesh, makeToken } from '../../apps/node/test/harness.ts'
import { measureLoad, sendAll } from './load.ts'
import { round } from './statistics.ts'
import { until } from './until.ts'

const PUTS = 10_000
const GIVE_UP_MS = 120_000

export async function measureBurst() {
  const mesh = createMesh()
  try {
    const token = makeToken()
    const writer = await mesh.start({ token, built: true })
    const reader = await mesh.start({
      token,
      built: true,
      args: [`--discovery-bootstrap-peers=${writer.addresses.join(',')}`],
    })
    await until(async () => (await writer.client.getSummary({})).OnChainNodes === 1, 20_000)
    const urls = Array.from(
      { length: PUTS },
      (_, at) => `${writer.url}/api/ledger/burst/key-${at}/value-${at}`,
    )
    const began = performance.now()
    const meanwhile = measureLoad(`${writer.url}/api/summary`, 3000, 1)
    const failed = await sendAll('PUT', urls)
    const acceptedMs = performance.now() - began
    const readable = (at: typeof writer) => async () => (await at.client.getDigest({})).Entries >= PUTS
    await until(readable(writer), GIVE_UP_MS)
    const readableHereMs = performance.now() - began
    await until(readable(reader), GIVE_UP_MS)
    const readableThereMs = performance.now() - began
    return {
      puts: PUTS,
      failed,
      acceptedMs: round(acceptedMs, 0),
      readableHereMs: round(readableHereMs, 0),
      readableThereMs: round(readableThereMs, 0),
      summaryMeanwhile: await meanwhile,
    }
  } finally {
    await mesh.cleanUp()
  }
}
