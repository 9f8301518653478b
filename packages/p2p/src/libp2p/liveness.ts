/** Which connections were asked whether they still carry something, and which of them have stayed silent (`liveness-checks.ts`). */
import type { Connection } from '@libp2p/interface'

const asked = new WeakSet<Connection>()
const doubted = new WeakSet<Connection>()

/** True for a connection that was asked and has neither answered nor ended. */
export const isAsked = (connection: Connection): boolean => asked.has(connection)

/** True for one that was asked and has stayed silent: nothing new begins on it. */
export const isInDoubt = (connection: Connection): boolean => doubted.has(connection)

export function noteAsked(connection: Connection): void {
  asked.add(connection)
}

export function noteDoubt(connection: Connection): void {
  doubted.add(connection)
}

/** The connection has answered, or ended. */
export function noteSure(connection: Connection): void {
  asked.delete(connection)
  doubted.delete(connection)
}
