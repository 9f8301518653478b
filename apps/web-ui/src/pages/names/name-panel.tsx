import { Link, useNavigate } from '@tanstack/react-router'
import type { DnsView } from '@mesh/api-contract'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useNames } from '../../data/machines.tsx'
import { useTrackedWrite, useWrite } from '../../data/writes.ts'
import { shownName } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { EmptyNote, LoadingRows } from '../../parts/notes.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import { DeleteDialog } from '../ledger/delete-dialog.tsx'
import page from '../page.module.css'
import { NameForm } from './name-form.tsx'
import { SidePanel } from '../../parts/panel.tsx'

interface NamePanelProps {
  /** Undefined: a new one. */
  readonly pattern: string | undefined
  /** Undefined until they were read. */
  readonly names: readonly DnsView[] | undefined
}

/** One pattern with its records, to change in place; or the form for a new one. */
export function NamePanel({ pattern, names }: NamePanelProps) {
  const navigate = useNavigate()
  return (
    <SidePanel to="/names" label={pattern === undefined ? 'Add a name' : shownName(pattern)}>
      {pattern === undefined ? (
        <NameForm
          pattern={undefined}
          records={undefined}
          onDone={(written) => void navigate({ to: '/names', search: { pattern: written } })}
        />
      ) : (
        <Existing pattern={pattern} names={names} />
      )}
    </SidePanel>
  )
}

function Existing({ pattern, names }: { pattern: string; names: readonly DnsView[] | undefined }) {
  const [deleting, setDeleting] = useState(false)
  const name = useNames()
  const write = useWrite()
  const tracked = useTrackedWrite('dns', pattern)
  const known = names?.find(({ Regex }) => Regex === pattern)
  return (
    <>
      {tracked !== undefined && (
        <p role="status">
          <WriteMark write={tracked} name={name} />
        </p>
      )}
      {names === undefined && <LoadingRows label="Reading the name" />}
      {names !== undefined && known === undefined && tracked === undefined && (
        <EmptyNote title="No such pattern">
          <p>It may have been deleted, or have expired.</p>
        </EmptyNote>
      )}
      {known !== undefined && (
        <>
          <NameForm pattern={pattern} records={known.Records} onDone={() => {}} />
          <div>
            <Button tone="danger" onClick={() => setDeleting(true)}>
              <Trash2 aria-hidden="true" />
              Delete
            </Button>
          </div>
          <Link to="/ledger" search={{ bucket: 'dns', key: pattern }} className={page.link}>
            Its signed entry in the ledger
          </Link>
        </>
      )}
      {deleting && (
        <DeleteDialog
          bucket="dns"
          entryKey={pattern}
          onClose={() => setDeleting(false)}
          onDelete={() =>
            write.mutate({ action: 'delete', bucket: 'dns', key: pattern, previous: known?.Records })
          }
        />
      )}
    </>
  )
}
