import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useNames } from '../../data/machines.tsx'
import { outcomeOf, useWrite } from '../../data/writes.ts'
import { putCommands } from '../../model/commands.ts'
import { readTypedValue } from '../../model/typed-value.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { Form, TextField } from '../../parts/field.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { SidePanel } from '../../parts/panel.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import css from './ledger.module.css'
import { fitsLimit, ValueEditor } from './value-editor.tsx'

/** A form for a key that is not there yet; what was typed stays until the node has taken it. */
export function NewKeyPanel({ bucket: given }: { bucket: string | undefined }) {
  const [bucket, setBucket] = useState(given ?? '')
  const [key, setKey] = useState('')
  const [text, setText] = useState('')
  const write = useWrite()
  const navigate = useNavigate()
  const name = useNames()
  const complete = bucket !== '' && key !== '' && fitsLimit(text)
  const { value } = readTypedValue(text)
  const submit = () => {
    if (!complete || write.isPending) return
    write.mutate(
      { action: 'put', bucket, key, value },
      { onSuccess: () => void navigate({ to: '/ledger', search: { bucket, key } }) },
    )
  }
  return (
    <SidePanel to="/ledger" label="New key">
      <Form onSubmit={submit}>
        <TextField label="Bucket" value={bucket} onChange={setBucket} autoFocus={given === undefined} />
        <TextField label="Key" value={key} onChange={setKey} autoFocus={given !== undefined} />
        <ValueEditor text={text} onChange={setText} onSubmit={submit} />
        {write.variables !== undefined && (
          <p role="status">
            <WriteMark
              write={{
                request: write.variables,
                at: write.submittedAt,
                outcome: outcomeOf(write.data, write.error),
              }}
              name={name}
            />
          </p>
        )}
        <WriteErrorNote error={write.error} />
        <div className={css.actions}>
          <Button type="submit" tone="primary" disabled={!complete} busy={write.isPending}>
            {write.isPending ? 'Announcing' : 'Write'}
          </Button>
        </div>
      </Form>
      <details className={css.details}>
        <summary>From a terminal</summary>
        <CommandList
          title="Write"
          commands={putCommands({ origin: nodeUrl, bucket: bucket || 'BUCKET', key: key || 'KEY' }, value)}
        />
      </details>
    </SidePanel>
  )
}
