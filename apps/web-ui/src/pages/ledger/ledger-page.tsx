import { useSearch } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { cx } from '../../parts/class-names.ts'
import page from '../page.module.css'
import { BucketKeys } from './bucket-keys.tsx'
import { BucketList } from './bucket-list.tsx'
import { EntryPanel } from './entry-panel.tsx'
import css from './ledger.module.css'
import { NewKeyPanel } from './new-key-panel.tsx'
import { RefusedList } from './refused-list.tsx'

/** Shows what the network believes: buckets, their keys, and the signed entry behind each. */
export function LedgerPage() {
  const { bucket, key, view, q = '' } = useSearch({ from: '/ledger' })
  const filter = useDeferredValue(q)
  const panelOpen = view === 'new' || (bucket !== undefined && key !== undefined)
  return (
    <div className={cx(page.split, panelOpen && page.open)}>
      <section className={cx(page.list, css.ledger, (bucket ?? view) !== undefined && css.inside)}>
        <BucketList selected={bucket} />
        <div className={css.keys}>
          {view === 'refused' ? (
            <RefusedList />
          ) : (
            <BucketKeys bucket={bucket} filter={filter} openKey={key} />
          )}
        </div>
      </section>
      {view === 'new' && <NewKeyPanel key={bucket} bucket={bucket} />}
      {view !== 'new' && bucket !== undefined && key !== undefined && (
        <EntryPanel key={JSON.stringify([bucket, key])} bucket={bucket} entryKey={key} />
      )}
    </div>
  )
}
