import { Link } from '@tanstack/react-router'
import { useFeed } from '../../live/live-context.tsx'
import type { FeedEntry } from '../../live/feed.ts'
import { type Machine, nameOrOwn } from '../../model/machine.ts'
import { shownName } from '../../model/shown-name.ts'
import { rejectionInWords } from '../../model/rejection-words.ts'
import { BlockLink } from '../../parts/block-link.tsx'
import { Tag } from '../../parts/tag.tsx'
import { Age } from '../../parts/time.tsx'
import page from '../page.module.css'
import css from './overview.module.css'

const ENTRIES_SHOWN = 12

/** Shows what happened lately, as it happens. */
export function Feed({ machines }: { machines: readonly Machine[] }) {
  const feed = useFeed()
  if (feed.length === 0) {
    return (
      <p className={page.sub}>Nothing yet. Writes, refusals and machines that come and go appear here.</p>
    )
  }
  return (
    <ol className={css.feed}>
      {feed.slice(0, ENTRIES_SHOWN).map((entry) => (
        <li key={entry.id}>
          <Age at={entry.at} />
          <p>
            <FeedText entry={entry} name={(id, own = '') => nameOrOwn(machines, id, own)} />
          </p>
        </li>
      ))}
    </ol>
  )
}

function FeedText({ entry, name }: { entry: FeedEntry; name: (id: string, own?: string) => string }) {
  switch (entry.kind) {
    case 'changed':
      return (
        <>
          {entry.owner === '' ? 'a member' : name(entry.owner)} {entry.deleted ? 'deleted' : 'put'}{' '}
          {entry.count > 1 && `${entry.count} keys, `}
          <KeyLink bucket={entry.bucket} keyName={entry.key} /> <BlockLink index={entry.block} />
        </>
      )
    case 'rejected': {
      const { Bucket, Key, Owner, Code } = entry.rejection
      return (
        <>
          {Owner === '' ? 'a member' : name(Owner)} tried <KeyLink bucket={Bucket} keyName={Key} />{' '}
          <Tag tone="broken">refused: {rejectionInWords(Code)}</Tag>
        </>
      )
    }
    case 'conflict': {
      const { Bucket, Key, Owners, Resolved } = entry.conflict
      return (
        <>
          <KeyLink bucket={Bucket} keyName={Key} /> {Resolved ? 'was' : 'is'} claimed by{' '}
          {Owners.map((owner) => name(owner)).join(' and ')}{' '}
          <Tag tone={Resolved ? 'plain' : 'relay'}>{Resolved ? 'settled' : 'conflict'}</Tag>
        </>
      )
    }
    case 'connected':
      return `${name(entry.peer)} connected, ${entry.path}`
    case 'disconnected':
      return `${name(entry.peer)} is not connected any more`
    case 'stranger':
      return (
        <>
          {entry.peer === null ? 'a peer' : name(entry.peer)} <Tag tone="broken">refused: {entry.code}</Tag>
        </>
      )
    case 'machine':
      return `${name(entry.peer, entry.hostname)} ${entry.online ? 'came online' : 'went offline'}`
  }
}

function KeyLink({ bucket, keyName }: { bucket: string; keyName: string }) {
  return (
    <Link to="/ledger" search={{ bucket, key: keyName }} className={css.key}>
      {shownName(bucket)}/{shownName(keyName)}
    </Link>
  )
}
