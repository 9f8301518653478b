/** Schema of the version. */
import * as z from 'zod'
import { later } from '../later.ts'

export const versionView = later(() =>
  z
    .object({
      Version: z.string(),
      Api: z.number().int(),
      Protocols: z.array(z.string()),
    })
    .meta({ id: 'Version' }),
)

export type VersionView = z.output<ReturnType<typeof versionView>>
