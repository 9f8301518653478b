/** Routes whose handlers are being written. */
import { Problem } from '../messages/problem.ts'
import type { HandlersOf } from './handler.ts'

const notYet = (): never => {
  throw new Problem('node.not_ready')
}

export const listBlocks: HandlersOf<'listBlocks' | 'getKeptBlock'> = {
  listBlocks: notYet,
  getKeptBlock: notYet,
}
export const operation: HandlersOf<'readLog' | 'runDoctor' | 'listSettings'> = {
  readLog: notYet,
  runDoctor: notYet,
  listSettings: notYet,
}
