/** Schemas of what `mesh doctor` finds, and of the settings in force. */
import * as z from 'zod'
import { later } from '../later.ts'

export const checkView = later(() =>
  z
    .object({
      Name: z.string().meta({ example: 'clock' }),
      Verdict: z.enum(['ok', 'warn', 'fail', 'skip']),
      Found: z.string().meta({ description: 'One sentence: what was found.' }),
      Next: z.string().nullable().meta({ description: 'One sentence: what to do; null: nothing.' }),
    })
    .meta({ id: 'Check' }),
)

export type CheckView = z.output<ReturnType<typeof checkView>>

export const settingView = later(() =>
  z
    .object({
      Name: z.string().meta({ description: 'The flag without its dashes.', example: 'api-listen' }),
      Group: z.string().meta({ description: 'The heading of the help that it stands under.' }),
      Summary: z.string(),
      Value: z.string().meta({ description: 'As it would be given; secrets are masked. Empty: not set.' }),
      Source: z.enum(['flag', 'environment', 'file', 'default']),
      Place: z.string().meta({ description: 'The flag, the variable, or file and line; may be empty.' }),
    })
    .meta({ id: 'Setting' }),
)

export type SettingView = z.output<ReturnType<typeof settingView>>
