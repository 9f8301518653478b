/**
 * How many messages came on each connection's transport. libp2p 3.3.11 tells nobody when it last heard from a connection, and
 * hands each transport's connection to the metrics port before it wraps it; the wrapped one is a private field of `Connection`.
 */
import type { Connection } from '@libp2p/interface'

interface Counter {
  messages: number
}

const counters = new WeakMap<object, Counter>()

/** Begins to count for a transport's connection; the returned function is to be called for each message that comes on it. */
export function countReceived(transportConnection: object): () => void {
  const counter: Counter = { messages: 0 }
  counters.set(transportConnection, counter)
  return () => void counter.messages++
}

/** Gives the number of messages that came on the connection so far; WebRTC's come on its streams and are not counted. */
export function receivedOn(connection: Connection): number {
  const { maConn } = connection as Connection & { readonly maConn?: object }
  return maConn === undefined ? 0 : (counters.get(maConn)?.messages ?? 0)
}
