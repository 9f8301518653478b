import { type RouteDefinition, routes } from '@mesh/api-contract'
import { stringifyExactJson } from '@mesh/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../data/client-context.tsx'
import { callOf, type ReadId } from '../../data/reads.ts'
import type { ApiOperation } from '../../model/api-document.ts'
import { Button } from '../../parts/button.tsx'
import { fieldClasses, Form, TextField } from '../../parts/field.tsx'
import { ErrorNote } from '../../parts/notes.tsx'
import css from './settings.module.css'

/** The most of an answer that is laid out, in characters. */
const MAX_SHOWN_CHARS = 20_000

interface TriableOperation extends ApiOperation {
  readonly id: ReadId
}

/** Can the page ask this route? It must be one that reads JSON, of the contract that the page knows. */
export function isTriable(operation: ApiOperation): operation is TriableOperation {
  const known: Readonly<Record<string, RouteDefinition>> = routes
  const route = Object.hasOwn(known, operation.id) ? known[operation.id] : undefined
  return route?.method === 'GET' && route.answer.kind === 'json'
}

/** Fills the parameters of a route and shows the answer. */
export function TryOut({ operation: { id, parameters } }: { operation: TriableOperation }) {
  const client = useClient()
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const ask = useMutation({
    mutationFn: async () => {
      const given = Object.entries(typed).filter(([, value]) => value !== '')
      // the contract checks what was typed
      const call = callOf(client, id) as (input: object, options: object) => Promise<unknown>
      return call(Object.fromEntries(given), {})
    },
  })
  const isMissing = parameters.some(({ name, required }) => required && !typed[name])
  return (
    <Form
      className={css.try}
      onSubmit={() => {
        if (!isMissing && !ask.isPending) ask.mutate()
      }}
    >
      {parameters.map(({ name, description, example, required }) => (
        <TextField
          key={name}
          label={required ? name : `${name}, optional`}
          value={typed[name] ?? ''}
          placeholder={example}
          hint={description}
          onChange={(value) => setTyped({ ...typed, [name]: value })}
        />
      ))}
      <div className={fieldClasses.actions}>
        <Button type="submit" disabled={isMissing} busy={ask.isPending}>
          Try it
        </Button>
      </div>
      {ask.error !== null && <ErrorNote title="The node refused" error={ask.error} />}
      {ask.data !== undefined && (
        // a box that scrolls must be reachable by the keyboard
        <pre className={css.answer} tabIndex={0} aria-label="Answer">
          {stringifyExactJson(ask.data, 2).slice(0, MAX_SHOWN_CHARS)}
        </pre>
      )}
    </Form>
  )
}
