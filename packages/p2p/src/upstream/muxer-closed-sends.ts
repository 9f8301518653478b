/**
 * Leaves unsaid what a muxer has for a connection that takes nothing any more: the answer to a ping, the end of a stream,
 * its own end. @libp2p/yamux 8.0.3 lets the connection's refusal escape from where it handles what came before the end, and then
 * a second time from where it ends for that: an error that nobody catches, which ends the process.
 * Report to send: 'a ping that arrives while its connection closes is an uncaught exception'.
 *
 * Reaches into yamux's `send`; where it is missing nothing is changed. Without it `muxer-closed-sends.test.ts` fails.
 */
interface SendingMuxer {
  readonly maConn: { readonly writeStatus?: string }
  send(bytes: unknown): boolean
}

/** Leaves unsaid what can reach nobody. */
export function sendWhileOpen(made: object): void {
  const muxer = made as SendingMuxer
  if (typeof muxer.send !== 'function') return
  const send = muxer.send.bind(muxer)
  muxer.send = (bytes) => {
    const { writeStatus } = muxer.maConn
    return writeStatus === 'closing' || writeStatus === 'closed' || send(bytes)
  }
}
