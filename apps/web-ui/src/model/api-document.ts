/** The part of an OpenAPI document that the reader shows: its operations by tag. */

interface ApiParameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description: string
  readonly example: string
}

export interface ApiOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly parameters: readonly ApiParameter[]
}

/** Reads what it knows and leaves out the rest: the document is a node's, which may be of another version. */
export function operationsByTag(document: unknown): ReadonlyMap<string, readonly ApiOperation[]> {
  const operations = Object.entries(fieldsOf(fieldsOf(document).paths)).flatMap(([path, methods]) =>
    Object.entries(fieldsOf(methods)).map(([method, operation]) => ({
      tag: textOf(listOf(fieldsOf(operation).tags)[0]) || 'other',
      operation: operationOf(method, path, fieldsOf(operation)),
    })),
  )
  const groups = Map.groupBy(operations, ({ tag }) => tag)
  return new Map([...groups].map(([tag, group]) => [tag, group.map(({ operation }) => operation)]))
}

function operationOf(method: string, path: string, operation: Fields): ApiOperation {
  return {
    id: textOf(operation.operationId),
    method: method.toUpperCase(),
    path,
    summary: textOf(operation.summary),
    parameters: listOf(operation.parameters).map(fieldsOf).map(parameterOf),
  }
}

function parameterOf(parameter: Fields): ApiParameter {
  const schema = fieldsOf(parameter.schema)
  return {
    name: textOf(parameter.name),
    in: textOf(parameter.in),
    required: parameter.required === true,
    description: textOf(parameter.description) || textOf(schema.description),
    example: textOf(schema.example),
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
