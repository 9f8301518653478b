/** A reverse proxy that serves a node below a path, as nginx does with `location /mesh/ { proxy_pass http://NODE/; }`. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SubpathProxy {
  /** `http://127.0.0.1:PORT/mesh`. */
  readonly url: string
  close(): void
}

export async function createSubpathProxy(nodeUrl: string): Promise<SubpathProxy> {
  const server = createServer((req, res) => {
    const { method, headers } = req
    if (req.url?.startsWith('/mesh/') !== true) return void res.writeHead(404).end()
    const asked = request(nodeUrl + req.url.slice('/mesh'.length), { method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    asked.on('error', () => res.destroy())
    res.on('close', () => asked.destroy())
    req.pipe(asked)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mesh`, close }
}
