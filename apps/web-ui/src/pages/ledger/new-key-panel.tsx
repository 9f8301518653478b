import { Link, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useId, useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useMachines } from '../../data/machines.tsx'
import { outcomeOf, useWrite } from '../../data/writes.ts'
import { putCommands } from '../../model/commands.ts'
import { nameOf } from '../../model/machine.ts'
import { readTypedValue } from '../../model/typed-value.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { Panel } from '../../parts/panel.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import page from '../page.module.css'
import css from './ledger.module.css'
import { fitsLimit, ValueEditor } from './value-editor.tsx'

/** A form for a key that is not there yet; what was typed stays until the node has taken it. */
export function NewKeyPanel({ bucket: given }: { bucket: string | undefined }) {
  const [bucket, setBucket] = useState(given ?? '')
  const [key, setKey] = useState('')
  const [text, setText] = useState('')
  const write = useWrite()
  const navigate = useNavigate()
  const { machines } = useMachines()
  const search = given === undefined ? {} : { bucket: given }
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
    <Panel
      label="New key"
      heading="New key"
      close={
        <Link to="/ledger" search={search} className={page.closer} aria-label="Close the panel">
          <X aria-hidden="true" />
        </Link>
      }
      onClose={() => void navigate({ to: '/ledger', search })}
    >
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <NameField label="Bucket" value={bucket} onChange={setBucket} autoFocus={given === undefined} />
        <NameField label="Key" value={key} onChange={setKey} autoFocus={given !== undefined} />
        <ValueEditor text={text} onChange={setText} onSubmit={submit} />
        {write.variables !== undefined && (
          <p role="status">
            <WriteMark
              write={{
                request: write.variables,
                at: write.submittedAt,
                outcome: outcomeOf(write.data, write.error),
              }}
              name={(id) => nameOf(machines ?? [], id)}
            />
          </p>
        )}
        {write.error !== null && <WriteErrorNote error={write.error} />}
        <div className={css.actions}>
          <Button type="submit" tone="primary" disabled={!complete} busy={write.isPending}>
            {write.isPending ? 'Announcing' : 'Write'}
          </Button>
        </div>
      </form>
      <details className={css.details}>
        <summary>From a terminal</summary>
        <CommandList
          title="Write"
          commands={putCommands({ origin: nodeUrl, bucket: bucket || 'BUCKET', key: key || 'KEY' }, value)}
        />
      </details>
    </Panel>
  )
}

interface NameFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly autoFocus: boolean
}

function NameField({ label, value, onChange, autoFocus }: NameFieldProps) {
  const id = useId()
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={css.input}
        value={value}
        required
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={autoFocus}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}
