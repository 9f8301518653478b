/** Schemas of health and log levels. */
import * as z from 'zod'
import { later } from '../later.ts'
import { ownership } from './fields.ts'

export const healthView = later(() =>
  z
    .object({
      Status: z.enum(['ok', 'warning', 'error']),
      Ownership: ownership(),
      Problems: z.array(
        z.object({
          Code: z.string(),
          Severity: z.enum(['warning', 'error']),
          Title: z.string(),
          Hint: z.string(),
          Since: z.string().nullable().meta({
            description:
              'RFC 3339 UTC: when it began where the node knows, else when this was first told; null: an older node does not know.',
          }),
        }),
      ),
    })
    .meta({ id: 'Health' }),
)

export type HealthView = z.output<ReturnType<typeof healthView>>

const logLevel = later(() => z.enum(['debug', 'info', 'warn', 'error', 'off']))

export const logLevelView = later(() =>
  z
    .object({
      Level: z.string().meta({ description: 'In the form of --log-level.', example: 'info,p2p=debug' }),
      Kept: z.boolean().meta({ description: 'They hold after a restart that names none itself.' }),
      Subsystems: z.array(z.object({ Name: z.string(), Level: logLevel() })),
    })
    .meta({ id: 'LogLevel' }),
)

export type LogLevelView = z.output<ReturnType<typeof logLevelView>>
