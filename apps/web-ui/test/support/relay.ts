/** Stands between a browser and a node, and can fall silent as a process does that is stopped: connections are taken. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay {
  /** Where the browser asks. */
  readonly url: string
  hang(): void
  goOn(): void
  stop(): Promise<void>
}

export async function createRelay(nodeUrl: string): Promise<Relay> {
  const { hostname, port } = new URL(nodeUrl)
  const sockets = new Set<Socket>()
  let isHanging = false
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    if (isHanging) socket.pause()
  }
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes) => near.write(bytes))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    for (const socket of [near, far]) track(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hang() {
      isHanging = true
      for (const socket of sockets) socket.pause()
    },
    goOn() {
      isHanging = false
      for (const socket of sockets) socket.resume()
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
