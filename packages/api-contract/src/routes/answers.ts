/** How routes answer in JSON: one value, or a list of values. */
import * as z from 'zod'
import { later } from '../later.ts'
import type { Answer } from '../route.ts'

export const json = <Schema extends z.ZodType>(schema: () => Schema, description: string) =>
  ({ kind: 'json', schema, description }) as const satisfies Answer

export const list = <Schema extends z.ZodType>(schema: () => Schema, description: string) =>
  json(
    later(() => z.array(schema())),
    description,
  )
