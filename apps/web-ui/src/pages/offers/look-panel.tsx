import { Link } from '@tanstack/react-router'
import type { SharedFilesView } from '@mesh/api-contract'
import { File, Folder, RotateCw } from 'lucide-react'
import { useRead } from '../../data/reads.ts'
import { nodeUrl } from '../../data/node-url.ts'
import { lookCommand, receiveCommands } from '../../model/commands.ts'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { Command } from '../../parts/copy.tsx'
import { Unread } from '../../parts/notes.tsx'
import { Facts, PanelSection, SidePanel } from '../../parts/panel.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import { Age } from '../../parts/time.tsx'
import page from '../page.module.css'
import css from './look-panel.module.css'
import { Member } from './own-panels.tsx'
import { Receive } from './receive.tsx'

/** Asks a member what is in its file or folder, and lists that; fetches nothing. */
export function LookPanel({ name, remote }: { name: string; remote: boolean }) {
  const files = useRead('listFiles', {})
  const provider = files.data?.find(({ Name }) => Name === name)?.PeerID
  return (
    <SidePanel to="/files" label={shownName(name)}>
      {provider !== undefined && <Facts facts={[['Offered by', <Member key="peer" id={provider} />]]} />}
      {remote ? (
        <p>Open the page on the machine of the node to see what is in it.</p>
      ) : (
        <Listing key={name} name={name} />
      )}
      <PanelSection title="From a terminal">
        <CommandList title="Fetch it" commands={receiveCommands({ origin: nodeUrl, name })} />
        <Command text={lookCommand({ origin: nodeUrl, name })} />
      </PanelSection>
      <p>
        <Link to="/ledger" search={{ bucket: 'files', key: name }} className={page.link}>
          Its entry in the ledger
        </Link>
      </p>
    </SidePanel>
  )
}

function Listing({ name }: { name: string }) {
  const read = useRead('lookIntoFile', { name })
  const { data } = read
  return (
    <>
      <Receive name={name} />
      <PanelSection title="What is in it">
        <Unread what="what is in it" read={read} />
        {data !== undefined && (
          <>
            <p className={css.total}>
              {data.IsFolder ? `${countInWords(data.Files)} ${data.Files === 1 ? 'file' : 'files'}, ` : ''}
              {bytesInWords(data.TotalBytes)}
              <Button tone="quiet" busy={read.isFetching} onClick={() => void read.refetch()}>
                <RotateCw aria-hidden="true" />
                Ask again
              </Button>
            </p>
            <Entries listing={data} />
          </>
        )}
      </PanelSection>
    </>
  )
}

const ENTRIES_AT_A_TIME = 100

function Entries({ listing: { Entries: entries, More, Name } }: { listing: SharedFilesView }) {
  const { drawn, more } = useFewRows(entries, ENTRIES_AT_A_TIME)
  return (
    <>
      <ul className={css.entries} aria-label={`Files in ${shownName(Name)}`}>
        {drawn.map((entry, at) => (
          <EntryRow key={`${at} ${entry.Path}`} entry={entry} />
        ))}
      </ul>
      {more}
      {More > 0 && <p className={page.sub}>{countInWords(More)} more are not listed.</p>}
    </>
  )
}

function EntryRow({ entry }: { entry: SharedFilesView['Entries'][number] }) {
  const { Path, IsFolder, Bytes, ModifiedAt } = entry
  const modified = Date.parse(ModifiedAt)
  return (
    <li>
      {IsFolder ? <Folder role="img" aria-label="folder" /> : <File role="img" aria-label="file" />}
      <span className={css.path}>{shownName(Path)}</span>
      <span className={css.size}>{IsFolder ? '' : bytesInWords(Bytes)}</span>
      <span className={css.age}>{Number.isFinite(modified) && <Age at={modified} />}</span>
    </li>
  )
}
