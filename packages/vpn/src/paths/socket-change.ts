/** This node's sockets replace each other: what that means for the paths to one peer. Pure. */
import { isProven, pathTo } from './known-paths.ts'
import { forsake } from './lost-probes.ts'
import type { LocalSocket, PathState, SocketEpoch } from './path-state.ts'
import { search } from './send-probes.ts'

/** Probes by the socket what works by others; what is proven by it is then taken (`choose-path.ts`). */
export function takeSocket(state: PathState, current: SocketEpoch, now: number): void {
  const { socket } = current
  state.current = current
  for (const path of state.paths.values()) {
    if (path.socket === socket) {
      path.ownEpoch = current.epoch
      continue
    }
    const works = path === state.chosen || isProven(path, now)
    if (!works && path.kind === 'heard') continue
    const twin = pathTo(state, { endpoint: path.endpoint, socket }, path.kind)
    if (twin !== undefined) twin.ownEpoch = current.epoch
  }
  if (state.chosen !== undefined) search(state, now)
}

/** Forgets the paths by a socket that is none any more. */
export function takeSocketClosed(state: PathState, socket: LocalSocket, now: number): void {
  for (const path of state.paths.values()) {
    if (path.socket !== socket) continue
    if (path === state.chosen) {
      forsake(state, path)
      search(state, now)
    }
    state.paths.delete(path.key)
  }
}
