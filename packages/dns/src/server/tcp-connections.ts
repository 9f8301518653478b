/**
 * How many connections over TCP there are: of a network, and of all, of which the last one of the network with the most makes
 * way.
 */
import { KeyedCounts, whoMakesWay } from '@mesh/core'
import { MAX_TCP_CONNECTIONS, MAX_TCP_CONNECTIONS_PER_ADDRESS } from '../limits.ts'
import type { Client } from './clients.ts'

export interface TcpConnections {
  /**
   * @param end ends the connection, when it has to make way for one from another network
   * @returns what gives its place back; undefined: there are too many, in all or from this network
   */
  enter(client: Client, end: () => void): (() => void) | undefined
}

interface Entered {
  readonly network: string
  readonly end: () => void
}

export function createTcpConnections(): TcpConnections {
  const all = new Set<Entered>()
  const byNetwork = new KeyedCounts<string>()
  const leave = (entered: Entered) => {
    if (all.delete(entered)) byNetwork.remove(entered.network)
  }
  /** False where nobody makes way. */
  const makeRoom = (network: string) => {
    const leaving = whoMakesWay(all, (each) => each.network, network)
    if (leaving === undefined) return false
    leave(leaving)
    leaving.end()
    return true
  }
  return {
    enter({ rated = '' }, end) {
      // this machine's own programs share one address
      const most = rated === '' ? MAX_TCP_CONNECTIONS / 2 : MAX_TCP_CONNECTIONS_PER_ADDRESS
      if (byNetwork.of(rated) >= most) return undefined
      if (all.size >= MAX_TCP_CONNECTIONS && !makeRoom(rated)) return undefined
      const entered = { network: rated, end }
      all.add(entered)
      byNetwork.add(rated)
      return () => leave(entered)
    },
  }
}
