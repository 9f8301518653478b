/** `node main.ts mesh.json serve`, or `node main.ts mesh.json ask NAME` */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { joinMesh, type JoinMeshInit } from '@mesh/node'

const [file = 'mesh.json', role, who = 'world'] = process.argv.slice(2)
const mesh = await joinMesh(JSON.parse(await readFile(file, 'utf8')) as JoinMeshInit)
console.log('joined', mesh.addresses.join(','))
if (role === 'ask') {
  const response = await mesh.fetch(`http://greeter.svc.mesh/${encodeURIComponent(who)}`)
  console.log(response.status, await response.text())
} else {
  const server = createServer((request, response) => {
    // the network proves who asks: no token, no cookie
    const peer = mesh.peerOf(request.socket) ?? 'nobody'
    response.end(`Hello ${decodeURIComponent((request.url ?? '/').slice(1))}, you are ${peer}`)
  })
  await mesh.listen('greeter', server)
  console.log('serves')
  await once(process, 'SIGINT')
}
await mesh.close()
