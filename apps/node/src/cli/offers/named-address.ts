/** `NAME=ADDRESS` of services and files, for nodes that run elsewhere than where the person stands. */
import { createHash } from 'node:crypto'
import type { NamedAddress } from '@mesh/services'
import { absoluteAddress } from '../../settings/absolute-address.ts'

/** The length that an instance's name may have. */
const MAX_INSTANCE_LENGTH = 40

/** Paths of unix sockets made absolute, from the folder that the person stands in. */
export function namedAddress(text: string, base: string): NamedAddress {
  const at = text.indexOf('=')
  return { name: text.slice(0, at), address: absoluteAddress(text.slice(at + 1), base) }
}

/** `service-add-web`; a name that no folder can have, or too long a one, is told apart by its hash. */
export function instanceOf(command: string, name: string): string {
  const wanted = `${command}-${name}`
  if (/^[a-z0-9._-]+$/i.test(wanted) && wanted.length <= MAX_INSTANCE_LENGTH) return wanted
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const readable = wanted.replaceAll(/[^a-z0-9._-]+/gi, '-').slice(0, MAX_INSTANCE_LENGTH - hash.length - 1)
  return `${readable}-${hash}`
}
