/** `node main.ts mesh.json`: tells which names come and go, until Ctrl-C */
import { readFile } from 'node:fs/promises'
import { joinMesh, type JoinMeshInit, type Mesh } from '@mesh/node'

/** The buckets of the network that hold names: of services, of DNS records, and of machines by their addresses. */
const BUCKETS = ['services', 'dns', 'machines'] as const

const [file = 'mesh.json'] = process.argv.slice(2)
const ended = new AbortController()
process.once('SIGINT', () => ended.abort())
const mesh = await joinMesh(JSON.parse(await readFile(file, 'utf8')) as JoinMeshInit)
console.log('joined', mesh.addresses.join(','))
await Promise.all(BUCKETS.map((bucket) => tell(mesh, bucket)))
await mesh.close()

async function tell({ watch }: Mesh, bucket: string): Promise<void> {
  const known = new Map<string, string>()
  try {
    for await (const { key, owner, isDeleted } of watch(bucket, { existing: true, signal: ended.signal })) {
      // members renew their entries: only another owner is news
      if (known.get(key) === (isDeleted ? undefined : owner)) continue
      // another member wrote the name: it may hold anything
      console.log(isDeleted ? 'gone' : 'new', bucket, JSON.stringify(key), 'of', owner)
      if (isDeleted) known.delete(key)
      else known.set(key, owner)
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error
  }
}
