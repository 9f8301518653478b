/** `mesh version`: the same line as `mesh --version`. */
import { version } from '../version.ts'
import type { Run } from './command.ts'

export const runVersion: Run = ({ out }) => {
  out(`${version}\n`)
  return Promise.resolve(0)
}
