/** Makes the reference of the HTTP API, of its errors and of the metrics from the contract and from the code that counts. */
import { errorCatalogue } from '@mesh/api-contract'
import { buildOpenApiDocument } from '@mesh/api-contract/openapi'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string

/** Every route of the API by its tag: method, path, query, level and what it does. */
export function apiDocument(made: string, table: Table): string {
  const { paths } = buildOpenApiDocument()
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const sections = [...Map.groupBy(routes, ({ operation }) => operation.tags[0] ?? '')].map(([tag, all]) => {
    const rows = all.map(({ method, path, operation: { summary, security, parameters = [] } }) => {
      const query = parameters.filter((each) => each.in === 'query').map(({ name }) => `\`${name}\``)
      return [`\`${method.toUpperCase()} ${path}\``, query.join(', '), security[0]?.token?.[0] ?? '', summary]
    })
    return `## ${tag}\n\n${table(['Route', 'Query', 'Level', 'What it does'], rows)}`
  })
  return [
    '# HTTP API',
    made,
    'A node that was started with `--api`, or as `mesh api`, serves these routes. Its whole description with every field stands at `/api/openapi.json`, and the page shows it under Settings. [@mesh/api-client](../packages/api-client/README.md) calls it with types. An API token of a level does what the levels below it do: `read`, `write`, `admin`. A failed call answers with a code of [errors](errors.md).',
    ...sections,
  ]
    .join('\n\n')
    .concat('\n')
}

/** Every code of a failed call, with its HTTP status and what to do next. */
export function errorsDocument(made: string, table: Table): string {
  const byArea = Map.groupBy(Object.entries(errorCatalogue), ([code]) => code.split('.')[0] ?? '')
  const sections = [...byArea].map(([area, errors]) => {
    const rows = errors.map(([code, { status, title, hint }]) => [`\`${code}\``, String(status), title, hint])
    return `## ${area}\n\n${table(['Code', 'HTTP status', 'What happened', 'What to do'], rows)}`
  })
  return [
    '# Errors',
    made,
    'The API answers a failed call with `Code`, `Error` and `Hint`; the command line prints the same words and ends with a code of [exit codes](exit-codes.md).',
    ...sections,
  ]
    .join('\n\n')
    .concat('\n')
}

/** The decisions of docs/adr by number, from their headings. */
export function decisionsDocument(root: string, made: string): string {
  const files = globSync('docs/adr/0*.md', { cwd: root }).sort()
  const lines = files.map((file) => {
    const [, title = ''] = /^# (.*)$/m.exec(readFileSync(join(root, file), 'utf8')) ?? []
    return `- [${title}](${file.slice('docs/adr/'.length)})`
  })
  return `# Decisions\n\n${made}\n\n${lines.join('\n')}\n`
}

/** Every family of `/metrics`, as the code names it. */
export function metricsDocument(root: string, made: string, table: Table): string {
  const files = globSync('{packages/api-server/src,apps/node/src}/**/*.ts', { cwd: root })
  const families = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const source = readFileSync(join(root, file), 'utf8')
      return [
        ...source.matchAll(
          /\b(gauge|counter)\(\s*'(mesh_\w+|process_\w+|nodejs_\w+)',\s*'((?:[^'\\]|\\.)*)'/g,
        ),
      ]
    })
  const rows = families
    .map(([, type = '', name = '', help = '']) => [`\`${name}\``, type, help.replaceAll("\\'", "'")])
    .sort(([a = ''], [b = '']) => a.localeCompare(b))
  return [
    '# Metrics',
    made,
    'A node serves these at `/metrics` in the Prometheus text format. [packaging](../packaging/README.md) has a Grafana dashboard and alert rules for them.',
    table(['Family', 'Type', 'What it counts'], rows),
  ]
    .join('\n\n')
    .concat('\n')
}
