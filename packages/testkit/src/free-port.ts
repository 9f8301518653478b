import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/** Below those that kernels give to connections, any of which would take the port until its program listens. */
const [LOWEST, HIGHEST] = [16_384, 32_767] as const

/** A port of 127.0.0.1 that nobody has just now, TCP and UDP, for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1))
    if ((await isFreeTcp(port)) && (await isFreeUdp(port))) return port
  }
}

function isFreeTcp(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

function isFreeUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close()
      resolve(false)
    })
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => socket.close(() => resolve(true)))
  })
}
