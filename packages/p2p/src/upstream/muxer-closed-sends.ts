/**
 * Leaves unsaid what a muxer has for a connection that takes nothing any more: the answer to a ping, the end of a stream,
 * more room for one that is read on, its own end. @libp2p/yamux 8.0.3 lets the connection's refusal escape from where it
 * handles what came before the end, from where it ends for that, and to whoever reads a stream on: an error that nobody
 * catches, which ends the process. While the connection below the encryption closes, the encryption itself still looks open;
 * a refusal ends both, and what was not sent yet is lost. Who sends is told that there is no room, and stops: each stream would
 * bring a whole window more, as fast as this machine can, and a member that ends connections in the middle of services made
 * the process grow by 180 to 500 MB (`npm run attack -- member-interruptions`).
 * Report to send: 'a ping that arrives while its connection closes is an uncaught exception'.
 *
 * Reaches into yamux's `send`, and into `stream` of what @libp2p/noise and circuits lay over a connection; where these are
 * missing nothing is changed. Without it `muxer-closed-sends.test.ts` fails.
 */
interface SendingMuxer {
  readonly maConn: Layer
  send(bytes: unknown): boolean
}

/** A connection, or what was laid over one. */
interface Layer {
  readonly writeStatus?: string
  readonly stream?: Layer
}

/** Leaves unsaid what can reach nobody. */
export function sendWhileOpen(made: object): void {
  const muxer = made as SendingMuxer
  if (typeof muxer.send !== 'function') return
  const send = muxer.send.bind(muxer)
  muxer.send = (bytes) => !isEnding(muxer.maConn) && send(bytes)
}

function isEnding(connection: Layer): boolean {
  for (let layer: Layer | undefined = connection; layer !== undefined; layer = layer.stream)
    if (layer.writeStatus === 'closing' || layer.writeStatus === 'closed') return true
  return false
}
