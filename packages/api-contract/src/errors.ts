/** Every error that the API can answer with: one list, from which server, client, command line and UI speak. */
import * as z from 'zod'
import type { ErrorDescription } from './errors/error-description.ts'
import { httpErrors } from './errors/http-errors.ts'
import { leaseErrors } from './errors/lease-errors.ts'
import { ledgerErrors } from './errors/ledger-errors.ts'
import { networkErrors } from './errors/network-errors.ts'
import { nodeErrors } from './errors/node-errors.ts'
import { offersErrors } from './errors/offers-errors.ts'

export type { ErrorDescription }

export const errorCatalogue = {
  ...httpErrors,
  ...ledgerErrors,
  ...leaseErrors,
  ...networkErrors,
  ...offersErrors,
  ...nodeErrors,
} as const satisfies Readonly<Record<string, ErrorDescription>>

export type ErrorCode = keyof typeof errorCatalogue

const has = Object.prototype.hasOwnProperty.bind(errorCatalogue)

/** Gives the next step, in the words of HTTP or of the command line. */
export function hintOf(code: ErrorCode, asker: 'http' | 'command'): string {
  const { hint, commandHint }: ErrorDescription = errorCatalogue[code]
  return asker === 'command' ? (commandHint ?? hint) : hint
}

/** After how many seconds a failure may be over; undefined where nobody knows. */
export function retryAfterSecondsOf(code: ErrorCode): number | undefined {
  const { retryAfterSeconds }: ErrorDescription = errorCatalogue[code]
  return retryAfterSeconds
}

/** Narrows any text to a code of the catalogue. */
export function isErrorCode(code: string): code is ErrorCode {
  return has(code)
}

/** The body of every answer with a status of 400 or more. */
export const errorBody = z
  .object({
    Code: z.string().meta({ description: 'One of the closed list of codes.', example: 'ledger.not_owner' }),
    Message: z.string(),
    Hint: z.string(),
    RequestID: z.string(),
    Issues: z.array(z.object({ Field: z.string(), Value: z.string(), Expected: z.string() })),
    Owner: z.string().optional().meta({ description: 'With ledger.not_owner: who owns the key.' }),
    LeaseEndsAt: z
      .string()
      .optional()
      .meta({ description: 'With ledger.not_owner: when the lease ends unless renewed, RFC 3339 UTC.' }),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof errorBody>
