import { servicesError } from '../errors.ts'
import { MAX_NAME_BYTES } from '../limits.ts'

/** @throws MeshError `services.bad_name` */
export function checkServiceName(name: string): void {
  const isRight =
    name !== '' &&
    new TextEncoder().encode(name).length <= MAX_NAME_BYTES &&
    name.isWellFormed() &&
    !/\p{Cc}/u.test(name)
  if (isRight) return
  const form = `1 to ${MAX_NAME_BYTES} bytes of UTF-8, without control characters`
  throw servicesError('services.bad_name', `"${name.slice(0, 50)}" cannot be the name of a service`, {
    hint: `A name has ${form}.`,
    issues: [{ field: 'name', value: name.slice(0, 50), expected: `a name of ${form}` }],
  })
}
