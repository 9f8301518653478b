/**
 * Sends all that a connection over TCP sends in one turn by one call to the system. Each frame of the library leaves in
 * two pieces, its length and the rest (@libp2p/noise 17.0.3), and each piece by a write of its own (@libp2p/tcp 11.0.28):
 * two packets, which the other end reads and acknowledges one by one. Twenty machines that meet send 37,000 packets until
 * they know each other, and without this 122,000.
 *
 * Reaches into `stream` of the encrypted connection, which is the one beneath it, and into `socket` and `sendData` of
 * that; a connection without them is left alone. Without it `joined-writes.test.ts` fails.
 */

/** A connection, or what was laid over one. */
interface Layer {
  readonly stream?: Layer
  readonly socket?: Partial<CorkedSocket>
  sendData?(data: unknown): unknown
}

interface CorkedSocket {
  cork(): void
  uncork(): void
}

/** Joins what is sent over a connection; `top` is what the muxer was given. */
export function joinWrites(top: object): void {
  for (let layer: Layer | undefined = top; layer !== undefined; layer = layer.stream) {
    const { socket, sendData } = layer
    if (typeof sendData === 'function' && isCorkedSocket(socket)) return joinOn(layer, socket)
  }
}

function joinOn(layer: Layer, socket: CorkedSocket): void {
  const sendData = layer.sendData?.bind(layer)
  let isCorked = false
  layer.sendData = (data) => {
    if (!isCorked) {
      isCorked = true
      socket.cork()
      process.nextTick(() => {
        isCorked = false
        socket.uncork()
      })
    }
    return sendData?.(data)
  }
}

function isCorkedSocket(socket: Partial<CorkedSocket> | undefined): socket is CorkedSocket {
  return typeof socket?.cork === 'function' && typeof socket.uncork === 'function'
}
