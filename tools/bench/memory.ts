/** Resident memory of a built node, idle: alone, and with 20 peers connected. */
import { readFileSync } from 'node:fs'
import { createMesh, makeToken } from '../../apps/node/test/harness.ts'
import { round } from './statistics.ts'
import { until } from './until.ts'

const PEERS = 20
const CALM_MS = 20_000

export async function measureMemory() {
  const mesh = createMesh()
  try {
    const token = makeToken()
    const node = await mesh.start({ token, built: true, until: 'all transports listening' })
    await new Promise((resolve) => setTimeout(resolve, CALM_MS))
    const alone = residentMb(node.pid)
    const join = `--discovery-bootstrap-peers=${node.addresses.join(',')}`
    for (let at = 0; at < PEERS; at++) await mesh.start({ token, built: true, args: [join] })
    await until(async () => (await node.client.getSummary({})).OnChainNodes === PEERS, 60_000)
    await new Promise((resolve) => setTimeout(resolve, CALM_MS))
    return { aloneMb: alone, withPeersMb: residentMb(node.pid), peers: PEERS }
  } finally {
    await mesh.cleanUp()
  }
}

/** All resident pages, and those of them that are not file-backed (Node's own code is about 60 MB of files). */
function residentMb(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = (field: string) =>
    round(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024, 1)
  return { resident: mb('VmRSS'), anonymous: mb('RssAnon') }
}
