import type { SignedEntryView } from '@mesh/api-contract'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useRead } from '../../data/reads.ts'
import { useWrite } from '../../data/writes.ts'
import { printForTyping, readTypedValue } from '../../model/typed-value.ts'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/copy.tsx'
import { PanelSection } from '../../parts/panel.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import css from './ledger.module.css'
import { fitsLimit, ValueEditor } from './value-editor.tsx'

interface EntryValueProps {
  readonly bucket: string
  readonly entryKey: string
  /** Undefined when there is no such key. */
  readonly signed: SignedEntryView | undefined
  /** The text that was typed and refused: it is kept. */
  readonly typed?: string | undefined
}

/** The value, to copy, edit in place and delete. */
export function EntryValue({ bucket, entryKey, signed, typed }: EntryValueProps) {
  const deleted = signed?.Deleted !== false
  const read = useRead('getEntry', { bucket, key: entryKey }, { enabled: !deleted })
  /** The text that is being typed; undefined while nobody edits. */
  const [draft, setDraft] = useState(typed)
  const [deleting, setDeleting] = useState(false)
  const write = useWrite()
  const live = read.data !== undefined && !deleted
  const value: unknown = live ? read.data : undefined
  const save = () => {
    if (draft === undefined || !fitsLimit(draft) || write.isPending) return
    // what was typed stays until the node has taken it
    const request = { action: 'put', bucket, key: entryKey, value: readTypedValue(draft).value } as const
    write.mutate(request, { onSuccess: () => setDraft(undefined) })
  }
  if (draft !== undefined) {
    return (
      <PanelSection title="Value">
        <ValueEditor hideLabel text={draft} onChange={setDraft} onSubmit={save} />
        <div className={css.actions}>
          <Button tone="primary" onClick={save} disabled={write.isPending || !fitsLimit(draft)}>
            {write.isPending ? 'Announcing' : 'Write'}
          </Button>
          <Button tone="quiet" onClick={() => setDraft(undefined)}>
            Cancel
          </Button>
        </div>
      </PanelSection>
    )
  }
  return (
    <PanelSection title="Value">
      {live ? <ValueBox value={value} /> : <NoValue signed={signed} />}
      <div className={css.actions}>
        <Button onClick={() => setDraft(live ? printForTyping(value) : '')}>
          <Pencil aria-hidden="true" />
          {live ? 'Edit' : 'Write it'}
        </Button>
        {live && (
          <Button tone="danger" onClick={() => setDeleting(true)}>
            <Trash2 aria-hidden="true" />
            Delete
          </Button>
        )}
      </div>
      {deleting && (
        <DeleteDialog
          bucket={bucket}
          entryKey={entryKey}
          onClose={() => setDeleting(false)}
          onDelete={() => write.mutate({ action: 'delete', bucket, key: entryKey, previous: value })}
        />
      )}
    </PanelSection>
  )
}

function ValueBox({ value }: { value: unknown }) {
  const text = printForTyping(value)
  return (
    <div className={css.valueBox}>
      <pre>{text === '' ? <span className={css.hint}>empty text</span> : text}</pre>
      {text !== '' && (
        <Copy text={text} what="value">
          copy
        </Copy>
      )}
    </div>
  )
}

function NoValue({ signed }: { signed: SignedEntryView | undefined }) {
  if (signed === undefined) {
    return <p className={css.hint}>There is no such key. It may have been deleted, or have expired.</p>
  }
  if (!signed.Deleted) return <p className={css.hint}>The value is being read.</p>
  return (
    <p>
      <StateMark tone="offline" word="deleted">
        what is left is the signed deletion
      </StateMark>
    </p>
  )
}
