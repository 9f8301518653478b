import { Link, Outlet, useParams, useSearch } from '@tanstack/react-router'
import { Plug } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { usePeerRows } from '../../data/peer-rows.ts'
import { filterPeers, foundInWords, PEER_WORDS, type PeerRow } from '../../model/peer-row.ts'
import { countInWords } from '../../model/rate-words.ts'
import { Button } from '../../parts/button.tsx'
import { EmptyNote } from '../../parts/notes.tsx'
import { byFigure, byText, type SortableColumn } from '../../parts/use-sort.ts'
import { words } from '../../words/en.ts'
import { FilterWords } from '../lists/filter-words.tsx'
import { PlainList } from '../lists/plain-list.tsx'
import page from '../page.module.css'
import { AddPeerDialog } from './add-peer-dialog.tsx'
import { PeerCells } from './peer-cells.tsx'
import css from './peers.module.css'

const COLUMNS: readonly SortableColumn<PeerRow>[] = [
  { title: 'Peer', compare: byText(({ name }) => name) },
  { title: 'Path', compare: byText(({ reach, relay = '' }) => `${reach.kind} ${relay}`) },
  {
    title: 'Known as',
    compare: byFigure(({ isMember, isOnline }) => Number(isMember) * 2 + Number(isOnline)),
  },
  { title: 'Found by', compare: byText(({ peer }) => foundInWords(peer?.FoundBy ?? [])) },
  { title: 'Transport', compare: byText(({ peer }) => peer?.Transport ?? '') },
  { title: 'Now', align: 'end', compare: byFigure(({ peer }) => peer && peer.RateIn + peer.RateOut) },
  { title: 'In all', align: 'end', compare: byFigure(({ peer }) => peer && peer.TotalIn + peer.TotalOut) },
  { title: 'Seen', compare: byFigure(({ peer }) => peer && Date.parse(peer.LastSeen ?? '')) },
  { title: 'Reaching it' },
]

/** States by the word of the filter, as people call them. */
const STATES = {
  connected: 'connected',
  relayed: 'relayed',
  member: 'members',
  stranger: 'strangers',
  offline: 'offline',
  failed: 'with an error',
}

/** Every peer that this node knows, members or not. */
export function PeersPage() {
  const { q = '' } = useSearch({ from: '/peers' })
  const { id } = useParams({ strict: false })
  const [isAdding, setAdding] = useState(false)
  const read = usePeerRows()
  return (
    <>
      <PlainList
        title={words.sections['/peers']}
        what="the peers"
        columns={COLUMNS}
        rowClass={css.row}
        read={read}
        filter={q}
        filterRows={filterPeers}
        keyOf={(row) => row.id}
        isSelected={(row) => row.id === id}
        renderCells={(row) => <PeerCells row={row} />}
        action={
          <div className={css.headActions}>
            <FilterWords
              to="/peers"
              rows={read.data ?? []}
              filterRows={filterPeers}
              words={STATES}
              filter={useDeferredValue(q)}
            />
            <Button onClick={() => setAdding(true)}>
              <Plug aria-hidden="true" />
              Connect to an address
            </Button>
          </div>
        }
        panel={id !== undefined && <Outlet />}
        empty={
          <EmptyNote picture="peers" title="No peer is known yet">
            <p>Peers that this node finds, dials or is dialled by appear here, members or not.</p>
            <p>
              <Button onClick={() => setAdding(true)}>Connect to an address</Button>
            </p>
          </EmptyNote>
        }
        nothingFits={
          <EmptyNote title="No peer fits the filter">
            <p>
              Words that the filter knows: <code>{PEER_WORDS.join(' ')}</code>. Any other word is looked for
              in names, ids and addresses.
            </p>
            <p>
              <Link to="/peers" className={page.link}>
                Show all {countInWords(read.data?.length ?? 0)}
              </Link>
            </p>
          </EmptyNote>
        }
      />
      {isAdding && <AddPeerDialog onClose={() => setAdding(false)} />}
    </>
  )
}
