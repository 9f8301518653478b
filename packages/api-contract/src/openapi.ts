/** The OpenAPI 3.1 document of the contract. Apart from the index, so that nodes and pages start without it. */
import { OpenApiGeneratorV31, OpenAPIRegistry } from '@asteasolutions/zod-to-openapi'
import { type ErrorCode, errorBody, errorCatalogue } from './errors.ts'
import type { Answer, RouteDefinition } from './route.ts'
import { routes } from './routes.ts'

/** Codes that a request to any route may be answered with. */
const COMMON_ERRORS = (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => code.startsWith('http.'))

/** The whole document, as an object. */
export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>

/** Made anew at each call; the same contract gives the same document. */
export function buildOpenApiDocument(): OpenApiDocument {
  const registry = new OpenAPIRegistry()
  for (const [id, route] of Object.entries<RouteDefinition>(routes)) registry.registerPath(pathOf(id, route))
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'mesh node',
      version: '1',
      description: 'The HTTP API of a mesh node. Within version 1 there are only additions.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080' }],
  })
}

function pathOf(id: string, route: RouteDefinition) {
  const { params, query, body } = route
  return {
    operationId: id,
    method: route.method.toLowerCase() as Lowercase<RouteDefinition['method']>,
    path: route.path.replaceAll(/[:*](\w+)/g, '{$1}'),
    summary: route.summary,
    tags: [route.tag],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    responses: { 200: successOf(route.answer), ...errorsOf(route) },
  }
}

function successOf(answer: Answer) {
  const { description } = answer
  switch (answer.kind) {
    case 'json':
      return { description, content: { 'application/json': { schema: answer.schema() } } }
    case 'text':
      return { description, content: { 'text/plain': { schema: { type: 'string' as const } } } }
    case 'events':
      return { description, content: { 'text/event-stream': { schema: { type: 'string' as const } } } }
  }
}

/** Each route's own errors by status; what any route may answer with stands once, as `default`. */
function errorsOf(route: RouteDefinition) {
  const byStatus = new Map<string, ErrorCode[]>([['default', COMMON_ERRORS]])
  for (const code of route.errors) {
    const status = String(errorCatalogue[code].status)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, errorAnswer(codes)]))
}

function errorAnswer(codes: readonly ErrorCode[]) {
  const description = codes.map((code) => `${code} (${errorCatalogue[code].status})`).join(', ')
  return { description, content: { 'application/json': { schema: errorBody } } }
}
