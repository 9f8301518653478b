import {
  Activity,
  Boxes,
  DoorOpen,
  FileText,
  Gauge,
  KeyRound,
  type LucideIcon,
  Monitor,
  Network,
  ScrollText,
  Signpost,
  Smartphone,
} from 'lucide-react'
import { useHasAccess } from '../data/reads.ts'

/** The sections of the page, in the order of the rail. Only what exists stands here: no dead links. */
export interface Section {
  readonly path:
    | '/'
    | '/map'
    | '/traffic'
    | '/machines'
    | '/names'
    | '/services'
    | '/files'
    | '/guests'
    | '/exit'
    | '/ledger'
    | '/access'
  readonly title: string
  /** The second key after `g`. */
  readonly key: string
  readonly icon: LucideIcon
  /** Shown in the phone's bar; the others are under 'More'. */
  readonly inBar: boolean
  /** The name of what the search field finds here. */
  readonly search: string
}

export const SECTIONS: readonly Section[] = [
  { path: '/', title: 'Overview', key: 'o', icon: Gauge, inBar: true, search: 'Find a machine' },
  { path: '/map', title: 'Map', key: 'p', icon: Network, inBar: false, search: 'Filter machines' },
  { path: '/traffic', title: 'Traffic', key: 'r', icon: Activity, inBar: false, search: 'Find a machine' },
  {
    path: '/machines',
    title: 'Machines',
    key: 'm',
    icon: Monitor,
    inBar: true,
    search: 'Filter: name, relayed, os:linux',
  },
  { path: '/names', title: 'Names', key: 'n', icon: Signpost, inBar: true, search: 'Filter names' },
  { path: '/services', title: 'Services', key: 's', icon: Boxes, inBar: false, search: 'Filter services' },
  { path: '/files', title: 'Files', key: 'f', icon: FileText, inBar: false, search: 'Filter files' },
  { path: '/guests', title: 'Guests', key: 'u', icon: Smartphone, inBar: false, search: 'Filter guests' },
  { path: '/exit', title: 'Exit node', key: 'e', icon: DoorOpen, inBar: false, search: 'Filter members' },
  { path: '/ledger', title: 'Ledger', key: 'l', icon: ScrollText, inBar: true, search: 'Filter keys' },
  { path: '/access', title: 'Access', key: 'a', icon: KeyRound, inBar: false, search: 'Filter members' },
]

/** The section that a path belongs to. */
export function sectionOf(pathname: string): Section | undefined {
  return SECTIONS.find(({ path }) => pathname === path || (path !== '/' && pathname.startsWith(`${path}/`)))
}

/** The sections that this node has: without a peer gate and administrators there is no access to decide on. */
export function useSections(): readonly Section[] {
  const hasAccess = useHasAccess()
  return SECTIONS.filter(({ path }) => path !== '/access' || hasAccess === true)
}
