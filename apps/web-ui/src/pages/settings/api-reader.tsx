import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useRead } from '../../data/reads.ts'
import { type ApiOperation, operationsByTag } from '../../model/api-document.ts'
import { shownText } from '../../model/shown-name.ts'
import { Unread } from '../../parts/notes.tsx'
import page from '../page.module.css'
import css from './settings.module.css'
import { isTriable, TryOut } from './try-out.tsx'

/** The API of the node, by tag; what only reads can be tried here. */
export function ApiReader() {
  const { q = '' } = useSearch({ from: '/settings' })
  const read = useRead('getOpenApi', {})
  const groups = useMemo(() => operationsByTag(read.data), [read.data])
  const wanted = q.trim().toLowerCase()
  const fits = ({ id, path, summary }: ApiOperation) =>
    [id, path, summary].some((text) => text.toLowerCase().includes(wanted))
  return (
    <div className={css.groups}>
      <p className={page.sub}>
        From <code>{nodeUrl}/api/openapi.json</code>. Open a route to see its parameters and to try it.
      </p>
      <Unread what="the API document" read={read} />
      {[...groups].map(([tag, operations]) => {
        const shown = operations.filter(fits)
        if (shown.length === 0) return null
        return (
          <section key={tag} className={page.section}>
            <h2>
              {shownText(tag)} <span>{shown.length}</span>
            </h2>
            {shown.map((operation) => (
              <Operation key={`${operation.method} ${operation.path}`} operation={operation} />
            ))}
          </section>
        )
      })}
    </div>
  )
}

function Operation({ operation }: { operation: ApiOperation }) {
  const { method, path, summary, parameters } = operation
  return (
    <details className={css.operation}>
      <summary>
        <span className={css.method}>{method}</span>
        <code>{path}</code>
        <span className={css.summary}>{shownText(summary)}</span>
      </summary>
      {isTriable(operation) ? (
        <TryOut operation={operation} />
      ) : (
        <ul className={css.parameters}>
          {parameters.map(({ name, description }) => (
            <li key={name}>
              <code>{name}</code> {shownText(description)}
            </li>
          ))}
          <li>The page tries only routes that read JSON.</li>
        </ul>
      )}
    </details>
  )
}
