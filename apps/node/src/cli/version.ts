/** `mesh version`: the same line as `mesh --version`. */
import { version } from '../version.ts'
import { printableJson } from '../words/printable.ts'
import type { Run } from './command.ts'

export const runVersion: Run = ({ settings, out }) => {
  out(settings.json ? printableJson({ Version: version }) : `${version}\n`)
  return Promise.resolve(0)
}
