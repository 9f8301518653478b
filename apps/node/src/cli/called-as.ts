/**
 * How the person calls `mesh`: texts say `mesh`, and what a person is told to type is what works where they stand.
 * The launcher of a checkout hands itself over by `MESH_COMMAND`; no option has that name, as options' variables have
 * no underscore.
 */
import { shellWord } from '../words/shell-word.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `./mesh` in a checkout, `mesh` where it is installed. */
export function calledAs({ MESH_COMMAND: given, npm_lifecycle_event: script }: Environment): string {
  if (given !== undefined && given !== '') return shellWord(given)
  // `pnpm --filter node start` runs in a checkout too
  return script === undefined ? 'mesh' : './mesh'
}

/** The folder of the checkout whose launcher runs this process; undefined where `mesh` is installed. */
export function checkoutOf({ MESH_CHECKOUT: folder }: Environment): string | undefined {
  return folder === undefined || folder === '' ? undefined : folder
}

/** The text with `command` in place of `mesh` where it begins a command: after a backtick, a colon or `sudo`. */
export function replaceCommand(text: string, command: string): string {
  return command === 'mesh' ? text : text.replaceAll(/(?<=`|: +|\bsudo )mesh(?=[ `])/g, () => command)
}
