import { Link } from '@tanstack/react-router'
import { RotateCw, X } from 'lucide-react'
import { isUnfinished, type Upload } from '../../data/uploads.ts'
import { useUploadList, useUploads } from '../../data/uploads-context.tsx'
import { progressInWords } from '../../model/offer-progress.ts'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorNote } from '../../parts/notes.tsx'
import { Rate } from '../../parts/rate.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import page from '../page.module.css'
import css from './uploads.module.css'

/** The files that this page sends to its node, and how each ended. */
export function UploadList() {
  const list = useUploadList()
  const { drawn, more } = useFewRows(list)
  if (list.length === 0) return null
  return (
    <section className={page.section} aria-label="Sent from this browser">
      <h2>
        Sent from this browser
        <span>{countInWords(list.length)}</span>
      </h2>
      <ul className={css.uploads}>
        {drawn.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
      {more}
    </section>
  )
}

function UploadRow({ upload }: { upload: Upload }) {
  const { id, name, state, error } = upload
  const uploads = useUploads()
  return (
    <li className={css.upload}>
      <span className={css.name}>
        {state === 'offered' ? (
          <Link to="/files" search={{ view: 'file', name }} className={page.link}>
            {shownName(name)}
          </Link>
        ) : (
          shownName(name)
        )}
      </span>
      <UploadState upload={upload} />
      <span className={css.actions}>
        {state === 'failed' && (
          <Button onClick={() => uploads.retry(id)} aria-label={`Try again to send ${shownName(name)}`}>
            <RotateCw aria-hidden="true" />
            Try again
          </Button>
        )}
        <Button
          tone="quiet"
          onClick={() => uploads.remove(id)}
          aria-label={
            isUnfinished(upload) ? `Cancel ${shownName(name)}` : `Take ${shownName(name)} from the list`
          }
        >
          <X aria-hidden="true" />
          {isUnfinished(upload) && 'Cancel'}
        </Button>
      </span>
      {error !== undefined && (
        <div className={css.error}>
          <ErrorNote title={`${name} was not sent`} error={error} />
        </div>
      )}
    </li>
  )
}

function UploadState({ upload }: { upload: Upload }) {
  const { name, state, Bytes, TotalBytes, Rate: rate } = upload
  const { percent = 0, bytes, left } = progressInWords(upload)
  switch (state) {
    case 'waiting':
      return (
        <StateMark tone="offline" word="waiting">
          {bytesInWords(TotalBytes)}
        </StateMark>
      )
    case 'offered':
      return (
        <StateMark tone="committed" word="offered">
          {bytesInWords(TotalBytes)}
        </StateMark>
      )
    case 'failed':
      return (
        <StateMark tone="refused" word="failed">
          {bytes}
        </StateMark>
      )
    case 'sending':
      return (
        <span className={css.progress}>
          <progress value={Bytes} max={Math.max(1, TotalBytes)} aria-label={`Sending ${shownName(name)}`} />
          <span>
            {percent} %, {bytes}, <Rate bytesPerSecond={rate} />
            {left !== undefined && `, ${left} left`}
          </span>
        </span>
      )
  }
}
