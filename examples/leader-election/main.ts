/** `node main.ts mesh.json`, on each machine */
import { readFile } from 'node:fs/promises'
import { joinMesh, type JoinMeshInit } from '@mesh/node'
import { takePart } from './leader-election.ts'

const [file = 'mesh.json'] = process.argv.slice(2)
const ended = new AbortController()
process.once('SIGINT', () => ended.abort())
const mesh = await joinMesh(JSON.parse(await readFile(file, 'utf8')) as JoinMeshInit)
console.log('joined', mesh.addresses.join(','))
await takePart(mesh, (id) => console.log(id === mesh.id ? 'leads' : `follows ${id}`), ended.signal)
await mesh.close()
