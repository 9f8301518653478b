import { ApiError, createClient, type Fetch } from '@mesh/api-client'
import { useState } from 'react'
import type { Session } from '../data/session.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/copy.tsx'
import { fieldClasses, Form, TextField } from '../parts/field.tsx'
import { Mark } from '../parts/mark.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import css from './token-page.module.css'

interface TokenPageProps {
  readonly session: Session
  readonly fetch: Fetch
}

/** Stands in the place of the whole page while the node asks for a token that this tab does not have. */
export function TokenPage({ session, fetch }: TokenPageProps) {
  const [typed, setTyped] = useState('')
  const [failure, setFailure] = useState<Error>()
  const [pending, setPending] = useState(false)
  const token = typed.trim()
  const submit = async () => {
    setPending(true)
    setFailure(undefined)
    try {
      await createClient({ fetch, token, retries: 0 }).getSummary()
      session.use(token)
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)))
      setPending(false)
    }
  }
  const isUnknown = failure instanceof ApiError && failure.status === 401
  return (
    <main className={css.page}>
      <Form
        className={css.form}
        aria-labelledby="asks"
        onSubmit={() => {
          if (token !== '' && !pending) void submit()
        }}
      >
        <h1 id="asks">
          <Mark />
          This node asks for a token
        </h1>
        <TextField
          label="Token"
          value={typed}
          secret
          autoFocus
          onChange={(value) => {
            setTyped(value)
            setFailure(undefined)
          }}
          error={isUnknown ? 'The node does not know this token.' : undefined}
          hint="It is kept for this tab only."
        />
        {failure !== undefined && !isUnknown && (
          <ErrorNote title="The token could not be tried" error={failure} />
        )}
        <div className={fieldClasses.actions}>
          <Button type="submit" tone="primary" disabled={token === '' || pending}>
            {pending ? 'Opening' : 'Open'}
          </Button>
        </div>
        <div className={css.help}>
          <p>
            The person who runs the node makes one on its machine, with the file that it was started with:
          </p>
          <Command text="mesh api-token create NAME --level admin --api-token-file FILE" />
        </div>
      </Form>
    </main>
  )
}
