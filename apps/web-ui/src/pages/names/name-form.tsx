import { ApiError } from '@mesh/api-client'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useWrite } from '../../data/writes.ts'
import { putCommands } from '../../model/commands.ts'
import { patternOfName } from '../../model/name-pattern.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { fieldClasses, Form, TextField } from '../../parts/field.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import css from './names.module.css'

interface NameFormProps {
  /** Undefined: it is typed, too. */
  readonly pattern: string | undefined
  /** The value that is written now. */
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
  const form = useNameForm({ pattern: given, records, onDone })
  const { write, rows, pattern } = form
  return (
    <Form onSubmit={form.submit}>
      {given === undefined && (
        <TextField
          label="Name or pattern"
          value={form.typedPattern}
          onChange={form.setPattern}
          placeholder="git.lab"
          hint={
            form.typedPattern !== '' && pattern === form.typedPattern
              ? 'A regular expression over the whole name, which ends with a dot. Without ^ and $ it fits longer names, too.'
              : 'A name fits itself alone. A regular expression fits several: ^.*\\.lab\\.$'
          }
          error={form.issueOf('Regex')}
          autoFocus
        />
      )}
      {rows.map((row) => (
        <RecordFields
          key={row.id}
          row={row}
          error={form.twice === row ? 'Expected: given once.' : form.issueOf(`Records.${row.type}`)}
          onChange={(next) => form.change(rows.map((each) => (each.id === row.id ? next : each)))}
          onRemove={rows.length > 1 ? () => form.change(rows.filter(({ id }) => id !== row.id)) : undefined}
        />
      ))}
      <div className={fieldClasses.actions}>
        <Button type="submit" tone="primary" disabled={!form.canSubmit}>
          {write.isPending ? 'Announcing' : 'Write'}
        </Button>
        <Button onClick={() => form.change([...rows, { id: nextId(rows), type: '', value: '' }])}>
          <Plus aria-hidden="true" />
          Record
        </Button>
        {form.isEdited && given !== undefined && (
          <Button tone="quiet" onClick={form.discard}>
            Cancel
          </Button>
        )}
      </div>
      {!form.isShownAtField && <WriteErrorNote error={write.error} />}
      <TerminalCommands pattern={pattern} value={form.value} />
    </Form>
  )
}

/**
 * Holds the state of the form, and does its work: the text that is typed, what of it is wrong, and the write.
 */
function useNameForm({ pattern: given, records, onDone }: NameFormProps) {
  const [typedPattern, setTypedPattern] = useState('')
  /** The text that is being typed; undefined while nobody edits, so that changes of others show. */
  const [draft, setDraft] = useState<readonly RecordRow[]>()
  const write = useWrite()
  const pattern = given ?? patternOfName(typedPattern) ?? typedPattern
  const rows = draft ?? rowsOf(records ?? { A: '' })
  const value = Object.fromEntries(rows.map((row) => [row.type, row.value]))
  const twice = rows.find((row, at) => rows.findIndex(({ type }) => sameType(type, row.type)) < at)
  const isComplete = pattern !== '' && rows.every(({ type, value: text }) => type !== '' && text !== '')
  const canSubmit = isComplete && twice === undefined && !write.isPending
  const issues = write.error instanceof ApiError ? write.error.issues : []
  const forgetError = () => {
    if (write.isError) write.reset()
  }
  return {
    typedPattern,
    pattern,
    rows,
    value,
    twice,
    canSubmit,
    write,
    isEdited: draft !== undefined,
    isShownAtField: issues.some(({ field }) => isShown(field, rows)),
    issueOf(field: string) {
      const issue = issues.find((each) => each.field === field)
      return issue && `Expected: ${issue.expected}.`
    },
    setPattern(text: string) {
      setTypedPattern(text)
      forgetError()
    },
    change(next: readonly RecordRow[]) {
      setDraft(next)
      forgetError()
    },
    discard: () => setDraft(undefined),
    submit() {
      if (!canSubmit) return
      const onSuccess = () => {
        setDraft(undefined)
        onDone(pattern)
      }
      write.mutate({ action: 'put', bucket: 'dns', key: pattern, value }, { onSuccess })
    },
  }
}

function TerminalCommands({ pattern, value }: { pattern: string; value: Readonly<Record<string, string>> }) {
  const place = { origin: nodeUrl, bucket: 'dns', key: pattern || '^git\\.lab\\.$' }
  return (
    <details className={fieldClasses.details}>
      <summary>The same from a terminal</summary>
      <CommandList title="Write" commands={putCommands(place, value)} />
    </details>
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
