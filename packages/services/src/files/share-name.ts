import { servicesError } from '../errors.ts'

/** What the ledger takes as a key, in UTF-8. */
const MAX_SHARE_NAME_BYTES = 1_024

/** Any text without control characters can be a name; it is a key of the ledger. @throws MeshError `services.bad_name` */
export function checkShareName(name: string): void {
  const isUsable = name !== '' && name.isWellFormed() && !/\p{Cc}/u.test(name)
  if (isUsable && Buffer.byteLength(name) <= MAX_SHARE_NAME_BYTES) return
  throw servicesError('services.bad_name', `${JSON.stringify(name.slice(0, 80))} cannot be a name`, {
    hint: `A name is 1 to ${MAX_SHARE_NAME_BYTES} bytes of text without control characters.`,
  })
}
