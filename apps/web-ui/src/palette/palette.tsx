import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useCallback, useState } from 'react'
import { MAX_SEARCHED_KEYS } from '../data/ledger-keys.ts'
import { useMachines } from '../data/machines.tsx'
import type { Machine } from '../model/machine.ts'
import { countInWords } from '../model/rate-words.ts'
import { writeClipboard } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { words } from '../words/en.ts'
import { useActions, useSectionItems } from './actions.ts'
import {
  useBucketItems,
  useKeyItems,
  useMachineItems,
  useNameItems,
  useOfferItems,
  usePeerItems,
  useSettingItems,
} from './found.ts'
import { FoundGroup } from './found-group.tsx'
import css from './palette.module.css'
import { PingTarget } from './ping-target.tsx'

/** Finds everything that the page knows, and runs actions. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [pings, setPings] = useState(false)
  const [outcome, setOutcome] = useState<string>()
  const { machines } = useMachines()
  const self = machines?.find(({ reach }) => reach.kind === 'self')
  const copyId = async () => {
    const isCopied = self !== undefined && (await writeClipboard(self.id))
    setOutcome(isCopied ? words.palette.copied : words.palette.notCopied)
  }
  const actions = useActions({
    onPing: () => {
      setTyped('')
      setPings(true)
    },
    onCopyId: () => void copyId(),
  })
  return (
    <Dialog title={words.frame.search} look="bare" onClose={onClose}>
      <Command label={words.frame.search} shouldFilter={false} loop className={css.palette}>
        <Command.Input
          className={css.field}
          value={typed}
          onValueChange={setTyped}
          autoFocus
          data-focus-first
          placeholder={pings ? words.palette.pingField : words.palette.field}
        />
        <Command.List className={css.list} label={words.frame.search}>
          <Command.Empty className={css.note}>{words.palette.nothing}</Command.Empty>
          {pings ? (
            <PingTarget query={typed} onOutcome={setOutcome} />
          ) : (
            <Everything query={typed} actions={actions} onClose={onClose} />
          )}
        </Command.List>
        <p className={css.outcome} role="status">
          {outcome}
        </p>
      </Command>
    </Dialog>
  )
}

interface EverythingProps {
  readonly query: string
  readonly actions: ReturnType<typeof useActions>
  readonly onClose: () => void
}

function Everything({ query, actions, onClose }: EverythingProps) {
  const navigate = useNavigate()
  const open = useCallback(
    ({ id }: Machine) => void navigate({ to: '/machines/$id', params: { id } }),
    [navigate],
  )
  const keys = useKeyItems(query)
  const groups = [
    { title: words.found.machines, items: useMachineItems(open) },
    { title: words.found.actions, items: actions, always: true },
    { title: words.found.sections, items: useSectionItems(), always: true },
    { title: words.found.names, items: useNameItems() },
    { title: words.found.services, items: useOfferItems('listServices') },
    { title: words.found.files, items: useOfferItems('listFiles') },
    { title: words.found.buckets, items: useBucketItems() },
    { title: words.found.keys, items: keys.items },
    { title: words.found.peers, items: usePeerItems() },
    { title: words.found.settings, items: useSettingItems() },
  ]
  const shown = groups.filter(({ always }) => query.trim() !== '' || always)
  return (
    <>
      {shown.map(({ title, items }) => (
        <FoundGroup key={title} title={title} items={items} query={query} onClose={onClose} />
      ))}
      {keys.isReading && <Command.Loading className={css.note}>{words.palette.readingKeys}</Command.Loading>}
      {keys.isCut && <p className={css.note}>{words.palette.someKeys(countInWords(MAX_SEARCHED_KEYS))}</p>}
    </>
  )
}
