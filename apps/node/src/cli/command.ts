/** The definition of a command, and what it gets when it is called. */
import type { Surroundings } from '../settings/load-settings.ts'
import type { LoadedSettings } from '../settings/load-settings.ts'

/** One call of a command: what was asked, and where to answer. */
export interface Call extends LoadedSettings {
  readonly command: Command
  readonly surroundings: Surroundings
  /** Flags of EdgeVPN that were given and have no effect here. */
  readonly ignored: readonly string[]
  /** Writes to standard output, as given. */
  out(text: string): void
  /** Writes a line to standard error. */
  note(line: string): void
  /** Writes to standard error as it is, to draw a line anew. */
  draw(text: string): void
  /** Reads standard input to its end. @throws MeshError `node.bad_input` when it is longer than `maxBytes` */
  readInput(maxBytes: number): Promise<string>
  /** Is standard output a terminal? */
  readonly isTerminal: boolean
  /** True when standard error is a terminal. */
  readonly isErrorTerminal: boolean
}

/** Resolves with the exit code when the command is done. */
export type Run = (call: Call) => Promise<number>

export interface Command {
  /** The words that follow `mesh`: `api`, `ledger get`; empty for `mesh` alone. */
  readonly name: string
  /** Its arguments as help shows them, if it has some; those in [] may be left out. */
  readonly arguments?: readonly string[]
  /** One line, for the list of commands. */
  readonly summary: string
  /** Further sentences for its own help. */
  readonly description?: string
  /** Lines that a person can type. */
  readonly examples?: readonly string[]
  /** Loads the code of the command alone. */
  load(): Promise<Run>
}
