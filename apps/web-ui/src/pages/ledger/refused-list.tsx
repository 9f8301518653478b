import { Link } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { printable } from '@mesh/core'
import { useNames } from '../../data/machines.tsx'
import { useFeed } from '../../live/live-context.tsx'
import { rejectionInWords } from '../../model/rejection-words.ts'
import { EmptyNote } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Age } from '../../parts/time.tsx'
import page from '../page.module.css'
import css from './ledger.module.css'

/** Entries that this node refused lately, and why. */
export function RefusedList() {
  const nameOf = useNames()
  const refused = useFeed().filter((entry) => entry.kind === 'rejected')
  const name = (id: string) => (id === '' ? 'unsigned' : nameOf(id))
  return (
    <>
      <header className={page.head}>
        <Link to="/ledger" className={css.back} aria-label="All buckets">
          <ChevronLeft aria-hidden="true" />
        </Link>
        <h2 className={css.titleWords}>Refused</h2>
        <span className={page.sub}>the last that this node keeps</span>
      </header>
      <div className={css.scroll}>
        {refused.length === 0 && (
          <EmptyNote title="Nothing was refused">
            <p>
              A node checks every entry that it gets: the signature, the owner, the version. What breaks a
              rule is dropped, and shows here with the reason.
            </p>
          </EmptyNote>
        )}
        <ol>
          {refused.map(({ id, at, rejection: { Bucket, Key, Owner, Author, Code, Suppressed } }) => (
            <li key={id} className={css.refusal}>
              <Age at={at} />
              <div>
                <Link to="/ledger" search={{ bucket: Bucket, key: Key }} className={css.refusedKey}>
                  {printable(`${Bucket}/${Key}`)}
                </Link>
                <p>
                  <StateMark tone="refused" word="refused">
                    {rejectionInWords(Code)}
                  </StateMark>
                </p>
                <p className={css.hint}>
                  signed by {name(Owner)}
                  {Author !== null && Author !== Owner && `, sent by ${name(Author)}`}
                  {Suppressed > 0 && `, and ${Suppressed} more before it`}
                </p>
              </div>
            </li>
          ))}
        </ol>
      </div>
    </>
  )
}
