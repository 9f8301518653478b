/** What the network has that the search can find. Lists are read when the search opens, keys when somebody types. */
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useLedgerKeys } from '../data/ledger-keys.ts'
import { useMachines, useNames } from '../data/machines.tsx'
import { useRead } from '../data/reads.ts'
import type { Machine } from '../model/machine.ts'
import { shownName } from '../model/shown-name.ts'
import type { FoundItem } from './found-item.ts'

/** From so many letters on, keys are looked for. */
const MIN_KEY_LETTERS = 2

export function useMachineItems(run: (machine: Machine) => void): readonly FoundItem[] {
  const { machines = [] } = useMachines()
  return useMemo(
    () =>
      machines.map((machine) => ({
        id: machine.id,
        peer: machine.id,
        label: machine.name,
        also: [...machine.addresses, machine.id].join(' '),
        detail: machine.addresses[0] ?? '',
        run: () => run(machine),
      })),
    [machines, run],
  )
}

/** Peers that are no machines of the network. */
export function usePeerItems(): readonly FoundItem[] {
  const navigate = useNavigate()
  const { data: peers } = useRead('listPeers', {})
  return (peers ?? [])
    .filter(({ Member }) => !Member)
    .map(({ ID, Name }) => ({
      id: ID,
      peer: ID,
      label: shownName(Name) || ID,
      also: ID,
      run: () => void navigate({ to: '/peers', search: { q: ID } }),
    }))
}

export function useNameItems(): readonly FoundItem[] {
  const navigate = useNavigate()
  const { data: names } = useRead('listDns', {})
  return (names ?? []).map(({ Regex, Records }) => ({
    id: Regex,
    label: shownName(Regex),
    also: Object.values(Records).join(' '),
    detail: shownName(Object.values(Records)[0] ?? ''),
    run: () => void navigate({ to: '/names', search: { pattern: Regex } }),
  }))
}

export function useOfferItems(route: 'listServices' | 'listFiles'): readonly FoundItem[] {
  const navigate = useNavigate()
  const nameOf = useNames()
  const { data: offers } = useRead(route, {})
  const to = route === 'listServices' ? '/services' : '/files'
  return (offers ?? []).map(({ Name, PeerID }) => ({
    id: `${PeerID} ${Name}`,
    label: shownName(Name),
    detail: nameOf(PeerID),
    run: () => void navigate({ to, search: { q: Name } }),
  }))
}

export function useBucketItems(): readonly FoundItem[] {
  const navigate = useNavigate()
  const { data: digest } = useRead('getDigest', {})
  return Object.keys(digest?.Buckets ?? {}).map((bucket) => ({
    id: bucket,
    label: shownName(bucket),
    run: () => void navigate({ to: '/ledger', search: { bucket } }),
  }))
}

export function useKeyItems(query: string) {
  const navigate = useNavigate()
  const { data, isFetching } = useLedgerKeys(query.trim().length >= MIN_KEY_LETTERS)
  const items = useMemo(
    () =>
      (data?.keys ?? []).map(({ bucket, key }) => ({
        id: JSON.stringify([bucket, key]),
        label: shownName(key),
        also: bucket,
        detail: shownName(bucket),
        run: () => void navigate({ to: '/ledger', search: { bucket, key } }),
      })),
    [data, navigate],
  )
  return { items, isReading: isFetching, isCut: data?.isCut === true }
}

export function useSettingItems(): readonly FoundItem[] {
  const navigate = useNavigate()
  const { data: settings } = useRead('listSettings', {})
  return (settings ?? []).map(({ Name, Summary, Value }) => ({
    id: Name,
    label: Name,
    also: Summary,
    detail: shownName(Value),
    run: () => void navigate({ to: '/settings', search: { q: Name } }),
  }))
}
