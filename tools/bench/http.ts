/** API requests per second with few and many entries, beside EdgeVPN where EDGEVPN_BIN names its binary. */
import { startEdgevpn, whyNoEdgevpn } from '../../apps/node/test/edgevpn.ts'
import { createMesh, makeToken } from '../../apps/node/test/harness.ts'
import { measureLoad, sendAll } from './load.ts'
import { until } from './until.ts'

const FOR_MS = 2500
const SIZES = [10, 10_000] as const

export async function measureHttp() {
  const mesh = createMesh()
  const skipped = whyNoEdgevpn()
  const token = makeToken()
  const ours = await mesh.start({ token, built: true })
  const edgevpn =
    skipped === undefined
      ? await startEdgevpn({
          token,
          apiPort: 42_151,
          args: [
            '--mdns=false',
            '--listen-maddrs',
            '/ip4/127.0.0.1/tcp/0',
            '--discovery-bootstrap-peers',
            ours.addresses.join(','),
          ],
        })
      : undefined
  try {
    const results: Record<string, unknown> = {}
    let written = 0
    for (const size of SIZES) {
      const urls = Array.from(
        { length: size - written },
        (_, at) => `${ours.url}/api/ledger/bench/key-${written + at}/value-${at}`,
      )
      await sendAll('PUT', urls)
      written = size
      await until(async () => (await ours.client.getDigest({})).Entries >= size, 60_000)
      results[`ours at ${size}`] = await measureRoutes(ours.url)
      if (edgevpn === undefined) continue
      const held = async () =>
        Object.keys(((await edgevpn.ask('GET', '/api/ledger/bench')).json ?? {}) as object).length
      await until(async () => (await held()) >= size, 90_000)
      results[`EdgeVPN at ${size}`] = await measureRoutes(edgevpn.url)
    }
    return { ...results, ...(skipped === undefined ? {} : { edgevpn: { skipped } }) }
  } finally {
    await edgevpn?.stop()
    await mesh.cleanUp()
  }
}

async function measureRoutes(url: string) {
  return {
    summary: await measureLoad(`${url}/api/summary`, FOR_MS),
    oneKey: await measureLoad(`${url}/api/ledger/bench/key-1`, FOR_MS),
    wholeLedger: await measureLoad(`${url}/api/ledger`, FOR_MS),
  }
}
