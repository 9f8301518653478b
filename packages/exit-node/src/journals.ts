/** The port through which this package keeps what it changes in the kernel, so that a later node can take it back. */
import * as z from 'zod'

/** The fields of a process in a journal. */
export const processFields = {
  pid: z.int().positive(),
  /** Clock ticks from the machine's start to that of the process; undefined where the system does not tell. */
  began: z.string().optional(),
} as const

export type ProcessRecord = Readonly<z.infer<z.ZodObject<typeof processFields>>>

/** The journals of one state folder. */
export interface Journals {
  /** Gives the names that begin with the prefix. */
  list(prefix: string): readonly string[]
  /**
   * Undefined where there is no such journal. A damaged one is set aside, and the log tells the hint.
   * @param hint whole sentences that tell a person what to do about a damaged one
   */
  read<T extends object>(name: string, schema: z.ZodType<T>, hint: string): T | 'damaged' | undefined
  write(name: string, journal: object): void
  remove(name: string): void
  thisProcess(): ProcessRecord
  /** True while another process than this one runs that the record names. */
  isRunning(process: ProcessRecord): boolean
}
