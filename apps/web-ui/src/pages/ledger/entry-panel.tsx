import { ApiError } from '@mesh/api-client'
import { printable } from '@mesh/core'
import { useNames } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { useTrackedWrite } from '../../data/writes.ts'
import { printForTyping } from '../../model/typed-value.ts'
import { Unread, WriteErrorNote } from '../../parts/notes.tsx'
import { SidePanel } from '../../parts/panel.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import { EntryCommands } from './entry-commands.tsx'
import { EntryValue } from './entry-value.tsx'
import { Envelope } from './envelope.tsx'
import css from './ledger.module.css'

/** One key: its value to read and edit, and beside it the signed entry, checked in this browser. */
export function EntryPanel({ bucket, entryKey }: { bucket: string; entryKey: string }) {
  const name = useNames()
  const signed = useRead('getSignedEntry', { bucket, key: entryKey })
  const write = useTrackedWrite(bucket, entryKey)
  const missing = signed.error instanceof ApiError && signed.error.code === 'ledger.not_found'
  const typed =
    write?.outcome.state === 'refused' && write.request.action === 'put'
      ? printForTyping(write.request.value)
      : undefined
  return (
    <SidePanel
      to="/ledger"
      label={printable(`${bucket}/${entryKey}`)}
      heading={
        <span className={css.heading}>
          <span>{printable(bucket)}/</span>
          {printable(entryKey)}
        </span>
      }
    >
      {write !== undefined && (
        <p className={css.write} role="status">
          <WriteMark write={write} name={name} />
        </p>
      )}
      {write?.outcome.state === 'refused' && <WriteErrorNote error={write.outcome.error} />}
      {!missing && <Unread what="the entry" read={signed} />}
      {missing && <EntryValue bucket={bucket} entryKey={entryKey} signed={undefined} typed={typed} />}
      {!missing && signed.data !== undefined && (
        <>
          <EntryValue bucket={bucket} entryKey={entryKey} signed={signed.data} typed={typed} />
          <Envelope bucket={bucket} entryKey={entryKey} signed={signed.data} />
          <EntryCommands bucket={bucket} entryKey={entryKey} deleted={signed.data.Deleted} />
        </>
      )}
    </SidePanel>
  )
}
