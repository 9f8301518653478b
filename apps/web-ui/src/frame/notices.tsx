import { printable } from '@mesh/core'
import { useTrackedWrites, useWrite } from '../data/writes.ts'
import type { TrackedWrite } from '../model/tracked-write.ts'
import { Button } from '../parts/button.tsx'
import { useNow } from '../parts/time.tsx'
import css from './notices.module.css'

/** The time for which a deleted key can be put back with one click, in ms. */
const UNDO_MS = 20_000

/** Shows what was just deleted here, with the way back. */
export function Notices() {
  const now = useNow()
  const writes = useTrackedWrites()
  const undoable = writes.filter(
    ({ request, outcome, at }) =>
      request.action === 'delete' && outcome.state === 'committed' && now - at < UNDO_MS,
  )
  return (
    <div className={css.notices} role="status">
      {undoable.map((write) => (
        <Deleted key={JSON.stringify([write.request.bucket, write.request.key])} write={write} />
      ))}
    </div>
  )
}

function Deleted({ write: { request, outcome } }: { write: TrackedWrite }) {
  const write = useWrite()
  if (request.action !== 'delete' || outcome.state !== 'committed') return null
  const { bucket, key, previous } = request
  return (
    <div className={css.notice}>
      <p>
        Deleted <code>{printable(`${bucket}/${key}`)}</code> in block {outcome.block}.
      </p>
      <Button onClick={() => write.mutate({ action: 'put', bucket, key, value: previous })}>Undo</Button>
    </div>
  )
}
