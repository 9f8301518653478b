import * as z from 'zod'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const ANY_OBJECT = { type: 'object', additionalProperties: {} } as const

/**
 * An object with arbitrary keys, `__proto__` among them (zod's own record drops that one). Gives an object without
 * a prototype, so that no key finds anything but what was sent.
 */
export function jsonMap<Value extends z.ZodType>(
  value: Value,
): z.ZodType<Readonly<Record<string, z.output<Value>>>, Readonly<Record<string, z.input<Value>>>> {
  return z
    .custom<Readonly<Record<string, z.input<Value>>>>(isObject, 'an object')
    .meta(ANY_OBJECT)
    .transform((input, context) => {
      const output: Record<string, z.output<Value>> = Object.create(null)
      for (const [key, inner] of Object.entries(input)) {
        const parsed = value.safeParse(inner)
        if (parsed.success) output[key] = parsed.data
        else
          for (const issue of parsed.error.issues) context.addIssue({ ...issue, path: [key, ...issue.path] })
      }
      return output
    })
    .meta(ANY_OBJECT)
}
