/** JSON Schema (draft 2020-12) of the contract's schemas, as OpenAPI 3.1 wants it. */
import * as z from 'zod'

/** The keywords that a JSON Schema of the contract has; there are further ones too. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

export interface SchemaList {
  /** The schemas, by the names under which they were handed in; those with an id are references. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** The schemas that the references point to, by id. */
  readonly named: Readonly<Record<string, JsonSchema>>
}

/** @param io what a sender may write, or what a reader gets */
export function listSchemas(
  schemas: Readonly<Record<string, z.ZodType>>,
  io: 'input' | 'output',
): SchemaList {
  const { properties, $defs } = z.toJSONSchema(z.object(schemas), {
    io,
    // what only code can check is described by the schema's own `meta`
    unrepresentable: 'any',
    override: ({ jsonSchema }) => simplify(jsonSchema),
  }) as { properties?: Record<string, JsonSchema>; $defs?: Record<string, JsonSchema> }
  return {
    schemas: pointToComponents(properties ?? {}),
    named: pointToComponents($defs ?? {}),
  }
}

/** Leaves out what says nothing about the API, and writes "or null" in the short form. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema.id
  // readers are to expect further fields
  if (schema.additionalProperties === false) delete schema.additionalProperties
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  const [some, nothing, ...more] = schema.anyOf ?? []
  if (typeof some !== 'object' || typeof nothing !== 'object' || more.length > 0) return
  if (typeof some.type !== 'string' || nothing.type !== 'null') return
  delete schema.anyOf
  Object.assign(schema, { ...some, ...schema, type: [some.type, 'null'] })
  if (schema.enum !== undefined) schema.enum = [...schema.enum, null]
}

function pointToComponents<Schemas extends object>(schemas: Schemas): Schemas {
  return JSON.parse(JSON.stringify(schemas).replaceAll('"#/$defs/', '"#/components/schemas/'))
}
