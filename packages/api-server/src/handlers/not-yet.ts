/** Routes whose handlers are being written. */
import { Problem } from '../messages/problem.ts'
import type { HandlersOf } from './handler.ts'

const notYet = (): never => {
  throw new Problem('node.not_ready')
}

export const traffic: HandlersOf<'getTrafficHistory' | 'listPaths'> = {
  getTrafficHistory: notYet,
  listPaths: notYet,
}
export const peers: HandlersOf<'addPeer' | 'forgetPeer'> = { addPeer: notYet, forgetPeer: notYet }
