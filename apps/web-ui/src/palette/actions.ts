import { useNavigate } from '@tanstack/react-router'
import { useAdmission } from '../data/reads.ts'
import { SECTIONS } from '../frame/sections.ts'
import { useOpenDialog } from '../parts/frame-dialog.ts'
import { chooseTheme } from '../parts/theme.ts'
import { words } from '../words/en.ts'
import type { FoundItem } from './found-item.ts'

interface ActionsInit {
  /** Asks which machine. */
  readonly onPing: () => void
  readonly onCopyId: () => void
}

/** Everything that the search can do. */
export function useActions({ onPing, onCopyId }: ActionsInit): readonly FoundItem[] {
  const navigate = useNavigate()
  const openDialog = useOpenDialog()
  const { data: admission } = useAdmission()
  const { actions } = words
  const action = (label: string, run: () => void, stays = false): FoundItem => ({
    id: label,
    label,
    run,
    stays,
  })
  return [
    action(actions.addMachine, () => openDialog('join')),
    ...(admission?.HoldsKey === true ? [action(actions.invite, () => openDialog('invite'))] : []),
    action(actions.newName, () => void navigate({ to: '/names', search: { view: 'new' } })),
    action(actions.offerService, () => void navigate({ to: '/services', search: { view: 'offer' } })),
    action(actions.offerFile, () => void navigate({ to: '/files', search: { view: 'offer' } })),
    action(actions.ping, onPing, true),
    action(actions.copyId, onCopyId, true),
    ...(['light', 'dark', 'system'] as const).map((theme) =>
      action(actions.theme(words.themes[theme]), () => chooseTheme(theme)),
    ),
    action(actions.keys, () => openDialog('keys')),
  ]
}

export function useSectionItems(): readonly FoundItem[] {
  const navigate = useNavigate()
  return SECTIONS.map(({ path, key }) => ({
    id: path,
    label: words.actions.goTo(words.sections[path]),
    also: path,
    detail: `g ${key}`,
    run: () => void navigate({ to: path }),
  }))
}
