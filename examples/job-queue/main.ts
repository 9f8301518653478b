/** `node main.ts mesh.json work`, or `node main.ts mesh.json submit TEXT...` */
import { readFile } from 'node:fs/promises'
import { joinMesh, type JoinMeshInit } from '@mesh/node'
import { submit, work } from './job-queue.ts'

const [file = 'mesh.json', role, ...texts] = process.argv.slice(2)
const ended = new AbortController()
process.once('SIGINT', () => ended.abort())
const mesh = await joinMesh(JSON.parse(await readFile(file, 'utf8')) as JoinMeshInit)
console.log('joined', mesh.addresses.join(','))
if (role === 'submit') {
  const results = await Promise.all(texts.map((text) => submit(mesh, text, ended.signal)))
  for (const result of results) console.log('result', result)
} else {
  await work(
    mesh,
    async (text) => {
      console.log('works on', text)
      return text.toUpperCase()
    },
    ended.signal,
  )
}
await mesh.close()
