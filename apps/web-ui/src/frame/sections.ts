import {
  Activity,
  Blocks,
  Boxes,
  DoorOpen,
  FileText,
  Gauge,
  KeyRound,
  type LucideIcon,
  Monitor,
  Network,
  ScrollText,
  Settings,
  Signpost,
  Smartphone,
  Stethoscope,
  Waypoints,
} from 'lucide-react'
import { words } from '../words/en.ts'

/** The sections of the page, in the order of the rail. */
export interface Section {
  readonly path: keyof typeof words.sections
  /** The second key after `g`. */
  readonly key: string
  readonly icon: LucideIcon
  /** Shown in the phone's bar; the others are under 'More'. */
  readonly inBar?: true
  /** The first of a group of the rail. */
  readonly beginsGroup?: true
}

export const SECTIONS: readonly Section[] = [
  { path: '/', key: 'o', icon: Gauge, inBar: true },
  { path: '/map', key: 'v', icon: Waypoints, inBar: true },
  { path: '/machines', key: 'm', icon: Monitor, inBar: true, beginsGroup: true },
  { path: '/peers', key: 'p', icon: Network },
  { path: '/names', key: 'n', icon: Signpost, beginsGroup: true },
  { path: '/services', key: 's', icon: Boxes, inBar: true },
  { path: '/files', key: 'f', icon: FileText },
  { path: '/guests', key: 'u', icon: Smartphone, beginsGroup: true },
  { path: '/exit', key: 'e', icon: DoorOpen },
  { path: '/ledger', key: 'l', icon: ScrollText, beginsGroup: true },
  { path: '/blockchain', key: 'b', icon: Blocks },
  { path: '/access', key: 'a', icon: KeyRound, beginsGroup: true },
  { path: '/traffic', key: 't', icon: Activity, beginsGroup: true },
  { path: '/diagnostics', key: 'd', icon: Stethoscope },
  { path: '/settings', key: ',', icon: Settings },
]

/** The section that a path belongs to. */
export function sectionOf(pathname: string): Section | undefined {
  return SECTIONS.find(({ path }) => pathname === path || (path !== '/' && pathname.startsWith(`${path}/`)))
}
