import { ApiError } from '@mesh/api-client'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { useWrite } from '../../data/writes.ts'
import { putCommands } from '../../model/commands.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { fieldClasses, TextField } from '../../parts/field.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import css from './names.module.css'

interface NameFormProps {
  /** Undefined: it is typed, too. */
  readonly pattern: string | undefined
  /** What is written now. */
  readonly records: Readonly<Record<string, string>> | undefined
  readonly onDone: (pattern: string) => void
}

interface RecordRow {
  readonly id: number
  readonly type: string
  readonly value: string
}

/** Records of a pattern; what was typed stays until the node has taken it, and errors stand at their field. */
export function NameForm({ pattern: given, records, onDone }: NameFormProps) {
  const [typedPattern, setPattern] = useState('')
  /** What is being typed; undefined while nobody edits, so that changes of others show. */
  const [draft, setDraft] = useState<readonly RecordRow[]>()
  const write = useWrite()
  const pattern = given ?? typedPattern
  const rows = draft ?? rowsOf(records ?? { A: '' })
  const value = Object.fromEntries(rows.map((row) => [row.type, row.value]))
  const twice = rows.find((row, at) => rows.findIndex(({ type }) => sameType(type, row.type)) < at)
  const complete = pattern !== '' && rows.every(({ type, value: text }) => type !== '' && text !== '')
  const issues = write.error instanceof ApiError ? write.error.issues : []
  const issueOf = (field: string) => {
    const issue = issues.find((each) => each.field === field)
    return issue && `Expected: ${issue.expected}.`
  }
  const change = (next: readonly RecordRow[]) => {
    setDraft(next)
    if (write.isError) write.reset()
  }
  const submit = () => {
    if (!complete || twice !== undefined || write.isPending) return
    const done = () => {
      setDraft(undefined)
      onDone(pattern)
    }
    write.mutate({ action: 'put', bucket: 'dns', key: pattern, value }, { onSuccess: done })
  }
  return (
    <form
      className={fieldClasses.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {given === undefined && (
        <TextField
          label="Pattern"
          value={typedPattern}
          onChange={(text) => {
            setPattern(text)
            if (write.isError) write.reset()
          }}
          placeholder="^git\.lab\.$"
          hint="A regular expression over the whole name, which ends with a dot. Without ^ and $ it fits longer names, too."
          error={issueOf('Regex')}
          autoFocus
        />
      )}
      {rows.map((row) => (
        <RecordFields
          key={row.id}
          row={row}
          error={twice === row ? 'Expected: given once.' : issueOf(`Records.${row.type}`)}
          onChange={(next) => change(rows.map((each) => (each.id === row.id ? next : each)))}
          onRemove={rows.length > 1 ? () => change(rows.filter(({ id }) => id !== row.id)) : undefined}
        />
      ))}
      <div className={fieldClasses.actions}>
        <Button type="submit" tone="primary" disabled={!complete || twice !== undefined || write.isPending}>
          {write.isPending ? 'Announcing' : 'Write'}
        </Button>
        <Button onClick={() => change([...rows, { id: nextId(rows), type: '', value: '' }])}>
          <Plus aria-hidden="true" />
          Record
        </Button>
        {draft !== undefined && given !== undefined && (
          <Button tone="quiet" onClick={() => setDraft(undefined)}>
            Cancel
          </Button>
        )}
      </div>
      {write.error !== null && !issues.some(({ field }) => isShown(field, rows)) && (
        <WriteErrorNote error={write.error} />
      )}
      <details className={fieldClasses.details}>
        <summary>The same from a terminal</summary>
        <CommandList
          title="Write"
          commands={putCommands(
            { origin: location.origin, bucket: 'dns', key: pattern || '^git\\.lab\\.$' },
            value,
          )}
        />
      </details>
    </form>
  )
}

interface RecordFieldsProps {
  readonly row: RecordRow
  readonly error: string | undefined
  readonly onChange: (row: RecordRow) => void
  /** Undefined: it is the last one. */
  readonly onRemove: (() => void) | undefined
}

function RecordFields({ row, error, onChange, onRemove }: RecordFieldsProps) {
  return (
    <div className={css.record}>
      <TextField
        label="Type"
        value={row.type}
        placeholder="A"
        onChange={(type) => onChange({ ...row, type: type.toUpperCase() })}
      />
      <TextField
        label="Value"
        value={row.value}
        placeholder={PLACEHOLDERS[row.type] ?? ''}
        onChange={(value) => onChange({ ...row, value })}
        error={error}
      />
      {onRemove !== undefined && (
        <Button
          tone="quiet"
          className={css.remove}
          onClick={onRemove}
          aria-label={`Remove the record ${row.type}`}
        >
          <X aria-hidden="true" />
        </Button>
      )}
    </div>
  )
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  A: '10.1.0.5',
  AAAA: 'fd00::5',
  CNAME: 'nas.mesh.',
  MX: '10 mail.lab.',
  SRV: '0 5 443 web.lab.',
}

function rowsOf(records: Readonly<Record<string, string>>): readonly RecordRow[] {
  return Object.entries(records).map(([type, value], id) => ({ id, type, value }))
}

function nextId(rows: readonly RecordRow[]): number {
  return Math.max(-1, ...rows.map(({ id }) => id)) + 1
}

function sameType(a: string, b: string): boolean {
  return a !== '' && a.toUpperCase() === b.toUpperCase()
}

function isShown(field: string, rows: readonly RecordRow[]): boolean {
  return field === 'Regex' || rows.some(({ type }) => field === `Records.${type}`)
}
