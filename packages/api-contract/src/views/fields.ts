/** Fields that several answers have. */
import * as z from 'zod'
import { later } from '../later.ts'

export const count = later(() => z.number().int().nonnegative())

export const peerId = later(() => z.string().meta({ description: 'Peer id, base58.' }))

export const ownership = later(() =>
  z.enum(['enforce', 'observe', 'off']).meta({
    description:
      'How this node treats entries of others: refuses what breaks ownership, counts it, or follows a network that signs nothing.',
  }),
)

export const path = later(() => z.enum(['direct', 'relayed']))

/** 64 bits unsigned: a JSON number with all its digits, a `bigint` in programs. */
export const uint64 = later(() =>
  z
    .union([z.number().int().nonnegative(), z.bigint().nonnegative()])
    .transform((value) => BigInt(value))
    .meta({ type: 'integer', format: 'uint64', example: 1795228706793271000 }),
)
