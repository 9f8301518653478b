import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ApiError } from '@mesh/api-client'
import { X } from 'lucide-react'
import { printable } from '@mesh/core'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { useTrackedWrite } from '../../data/writes.ts'
import { nameOf } from '../../model/machine.ts'
import { printForTyping } from '../../model/typed-value.ts'
import { ErrorNote, WriteErrorNote } from '../../parts/notes.tsx'
import { LoadingRows } from '../../parts/loading-rows.tsx'
import { Panel } from '../../parts/panel.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import page from '../page.module.css'
import { EntryCommands } from './entry-commands.tsx'
import { EntryValue } from './entry-value.tsx'
import { Envelope } from './envelope.tsx'
import css from './ledger.module.css'

/** One key: its value to read and edit, and beside it the signed entry, checked in this browser. */
export function EntryPanel({ bucket, entryKey }: { bucket: string; entryKey: string }) {
  const { q } = useSearch({ from: '/ledger' })
  const navigate = useNavigate()
  const { machines } = useMachines()
  const signed = useRead('getSignedEntry', { bucket, key: entryKey })
  const write = useTrackedWrite(bucket, entryKey)
  const missing = signed.error instanceof ApiError && signed.error.code === 'ledger.not_found'
  const typed =
    write?.outcome.state === 'refused' && write.request.action === 'put'
      ? printForTyping(write.request.value)
      : undefined
  const search = { bucket, ...(q !== undefined && { q }) }
  const name = (id: string) => nameOf(machines ?? [], id)
  return (
    <Panel
      label={printable(`${bucket}/${entryKey}`)}
      heading={
        <span className={css.heading}>
          <span>{printable(bucket)}/</span>
          {printable(entryKey)}
        </span>
      }
      close={
        <Link to="/ledger" search={search} className={page.closer} aria-label="Close the panel">
          <X aria-hidden="true" />
        </Link>
      }
      onClose={() => void navigate({ to: '/ledger', search })}
    >
      {write !== undefined && (
        <p className={css.write} role="status">
          <WriteMark write={write} name={name} />
        </p>
      )}
      {write?.outcome.state === 'refused' && <WriteErrorNote error={write.outcome.error} />}
      {!missing && signed.data === undefined && signed.error !== null && (
        <ErrorNote
          title="The entry could not be read"
          error={signed.error}
          retry={() => void signed.refetch()}
        />
      )}
      {signed.isPending && <LoadingRows label="Reading the entry" />}
      {missing && <EntryValue bucket={bucket} entryKey={entryKey} signed={undefined} typed={typed} />}
      {!missing && signed.data !== undefined && (
        <>
          <EntryValue bucket={bucket} entryKey={entryKey} signed={signed.data} typed={typed} />
          <Envelope bucket={bucket} entryKey={entryKey} signed={signed.data} machines={machines ?? []} />
          <EntryCommands bucket={bucket} entryKey={entryKey} deleted={signed.data.Deleted} />
        </>
      )}
    </Panel>
  )
}
