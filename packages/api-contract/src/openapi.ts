/** The OpenAPI 3.1 document of the contract. Apart from the index, so that nodes and pages start without it. */
import { type ErrorCode, errorBody, errorCatalogue } from './errors.ts'
import { type JsonSchema, listSchemas } from './json-schema.ts'
import { type AccessLevel, levelOf, type RouteDefinition } from './route.ts'
import { type RouteId, routes } from './routes/index.ts'

/** The whole document, as an object. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string }[]
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly securitySchemes: { readonly token: OpenApiSecurityScheme }
  }
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<OpenApiMethod, OpenApiOperation>>>>>
}

/** A route's method, as OpenAPI writes it. */
export type OpenApiMethod = Lowercase<RouteDefinition['method']>

/** One route, as OpenAPI writes it. */
export interface OpenApiOperation {
  readonly operationId: RouteId
  readonly summary: string
  readonly tags: readonly string[]
  /** The level that a token needs, or nothing on a node that asks for none; empty where no token is ever asked for. */
  readonly security: readonly OpenApiSecurity[]
  readonly parameters?: readonly OpenApiParameter[]
  readonly requestBody?: { readonly required: true; readonly content: OpenApiContent }
  /** The answers, by status or `default`. */
  readonly responses: Readonly<Record<string, OpenApiResponse>>
}

/** One way to be let in: the token with its level, or, empty, nothing. */
export interface OpenApiSecurity {
  readonly token?: readonly AccessLevel[]
}

/** How the token is sent. */
export interface OpenApiSecurityScheme {
  readonly type: 'http'
  readonly scheme: 'bearer'
  readonly description: string
}

/** A parameter that stands in the path or in the query. */
export interface OpenApiParameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

/** One answer of a route. */
export interface OpenApiResponse {
  readonly description: string
  readonly content: OpenApiContent
}

/** A schema by media type. */
export type OpenApiContent = Readonly<Record<string, { readonly schema: JsonSchema }>>

/** Codes that a request to any route may be answered with. */
const COMMON_ERRORS = (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => code.startsWith('http.'))
const TOKEN_SCHEME: OpenApiSecurityScheme = {
  type: 'http',
  scheme: 'bearer',
  description:
    'Asked for by nodes with --api-token-file. A token is good for read, write or admin, each including those before it; the control socket asks for none.',
}
const TEXT: JsonSchema = { type: 'string' }
const BYTES: OpenApiContent = { 'application/octet-stream': { schema: {} } }

/** Made anew at each call; the same contract gives the same document. */
export function buildOpenApiDocument(): OpenApiDocument {
  const all = Object.entries<RouteDefinition>(routes)
  const asked = listSchemas(
    Object.fromEntries(
      all.flatMap(([id, { params, query, body }]) =>
        Object.entries({ params, query, body }).flatMap(([part, schema]) =>
          schema === undefined ? [] : [[`${id}.${part}`, schema]],
        ),
      ),
    ),
    'input',
  )
  const answered = listSchemas(
    Object.fromEntries([
      ['error', errorBody],
      ...all.flatMap(([id, { answer }]) => (answer.kind === 'json' ? [[id, answer.schema()]] : [])),
    ]),
    'output',
  )
  const paths: Record<string, Partial<Record<OpenApiMethod, OpenApiOperation>>> = {}
  for (const [id, route] of all) {
    const path = (paths[route.path.replaceAll(/[:*](\w+)/g, '{$1}')] ??= {})
    path[route.method.toLowerCase() as OpenApiMethod] = buildOperation(id as RouteId, route, {
      params: asked.schemas[`${id}.params`],
      query: asked.schemas[`${id}.query`],
      body: asked.schemas[`${id}.body`],
      answer: answered.schemas[id],
      error: answered.schemas['error'] ?? {},
    })
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'mesh node',
      version: '1',
      description: 'The HTTP API of a mesh node. Within version 1 there are only additions.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080' }],
    components: { schemas: { ...answered.named, ...asked.named }, securitySchemes: { token: TOKEN_SCHEME } },
    paths,
  }
}

interface RouteSchemas {
  readonly params: JsonSchema | undefined
  readonly query: JsonSchema | undefined
  readonly body: JsonSchema | undefined
  readonly answer: JsonSchema | undefined
  readonly error: JsonSchema
}

function buildOperation(id: RouteId, route: RouteDefinition, schemas: RouteSchemas): OpenApiOperation {
  const { params, query, body, answer, error } = schemas
  const parameters = [...parametersOf('path', params), ...parametersOf('query', query)]
  return {
    operationId: id,
    summary: route.summary,
    tags: [route.tag],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(route.takesBytes && { requestBody: { required: true, content: BYTES } }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      200: { description: route.answer.description, content: successContent(route, answer) },
      ...errorsOf(route, error),
    },
  }
}

function securityOf(route: RouteDefinition): readonly OpenApiSecurity[] {
  const level = levelOf(route)
  return level === 'open' ? [] : [{ token: [level] }, {}]
}

function parametersOf(place: 'path' | 'query', schema: JsonSchema | undefined): readonly OpenApiParameter[] {
  const required = schema?.required ?? []
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    schema: property,
    required: required.includes(name),
    ...(property.description !== undefined && { description: property.description }),
    name,
    in: place,
  }))
}

function successContent({ answer }: RouteDefinition, schema: JsonSchema | undefined): OpenApiContent {
  switch (answer.kind) {
    case 'json':
      return { 'application/json': { schema: schema ?? {} } }
    case 'text':
      return { 'text/plain': { schema: TEXT } }
    case 'events':
      return { 'text/event-stream': { schema: TEXT } }
  }
}

/** Each route's own errors by status; what any route may answer with stands once, as `default`. */
function errorsOf(route: RouteDefinition, schema: JsonSchema): Readonly<Record<string, OpenApiResponse>> {
  const byStatus = new Map<string, ErrorCode[]>([['default', COMMON_ERRORS]])
  for (const code of route.errors) {
    const status = String(errorCatalogue[code].status)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const answers = [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `${code} (${errorCatalogue[code].status})`).join(', ')
    return [status, { description, content: { 'application/json': { schema } } }]
  })
  return Object.fromEntries(answers)
}
