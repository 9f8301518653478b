import { type Random } from '@mesh/core'

/** Gives 16 hexadecimal digits. */
export function createRequestId(random: Random): string {
  return Buffer.from(random.bytes(8)).toString('hex')
}
