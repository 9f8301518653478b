/** Schemas of the last lines of the log. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count } from './fields.ts'

export const logLinesView = later(() =>
  z
    .object({
      Lines: z
        .array(
          z.object({
            Sequence: count().meta({ description: 'Counts up by one with each line.' }),
            Time: z.string().meta({ description: 'RFC 3339 UTC.' }),
            Level: z.enum(['debug', 'info', 'warn', 'error']),
            Subsystem: z.string(),
            Text: z.string().meta({ description: 'The line as people read it.' }),
          }),
        )
        .meta({ description: 'The oldest first.' }),
      Next: count().meta({ description: 'Give it as `after` to read on.' }),
    })
    .meta({ id: 'LogLines' }),
)

export type LogLinesView = z.output<ReturnType<typeof logLinesView>>
