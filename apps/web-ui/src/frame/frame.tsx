import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useMachines } from '../data/machines.tsx'
import { type FrameDialog, FrameDialogContext } from '../parts/frame-dialog.ts'
import { useShortcut } from '../parts/keyboard.tsx'
import { words } from '../words/en.ts'
import css from './frame.module.css'
import { LostBanner } from './lost-banner.tsx'
import { Notices } from './notices.tsx'
import { PhoneBar, Rail } from './rail.tsx'
import { SECTIONS, type Section, sectionOf } from './sections.ts'
import { ShortcutHelp } from './shortcut-help.tsx'
import { TopBar } from './top-bar.tsx'

const Palette = lazy(async () => ({ default: (await import('../palette/palette.tsx')).Palette }))
const AddMachineDialog = lazy(async () => ({
  default: (await import('../join/add-machine-dialog.tsx')).AddMachineDialog,
}))
const InviteDialog = lazy(async () => ({ default: (await import('../join/invite-dialog.tsx')).InviteDialog }))

/** Shows what stands around every page: the rail (on a phone the bar below), search, link state, theme. */
export function Frame() {
  const [dialog, setDialog] = useState<FrameDialog>()
  const section = sectionOf(useLocation().pathname)
  const close = () => setDialog(undefined)
  const search = () => setDialog((open) => (open === undefined ? 'search' : undefined))
  useShortcut('?', () => setDialog('keys'))
  useShortcut('/', search)
  useShortcut('mod+k', search)
  useTitle(section && words.sections[section.path])
  return (
    <div className={css.app}>
      <a className={css.skip} href="#main">
        {words.frame.skip}
      </a>
      <Rail />
      <div className={css.top}>
        <TopBar onSearch={search} onHelp={() => setDialog('keys')} />
        <LostBanner />
      </div>
      <main className={css.main} id="main" tabIndex={-1}>
        <FrameDialogContext value={setDialog}>
          <Outlet />
        </FrameDialogContext>
      </main>
      <PhoneBar />
      <Notices />
      {SECTIONS.map(({ path, key }) => (
        <GoKey key={path} path={path} second={key} />
      ))}
      {dialog === 'keys' && <ShortcutHelp onClose={close} />}
      <Suspense>
        {dialog === 'search' && (
          <FrameDialogContext value={setDialog}>
            <Palette onClose={close} />
          </FrameDialogContext>
        )}
        {dialog === 'join' && <AddMachineDialog onClose={close} />}
        {dialog === 'invite' && <InviteDialog onClose={close} />}
      </Suspense>
    </div>
  )
}

/** Tells tabs apart: the section and the node. */
function useTitle(section: string | undefined): void {
  const { machines } = useMachines()
  const node = machines?.find(({ reach }) => reach.kind === 'self')?.name
  useEffect(() => {
    document.title = [section, node, words.frame.brand].filter(Boolean).join(' · ')
  }, [section, node])
}

function GoKey({ path, second }: { path: Section['path']; second: string }) {
  const navigate = useNavigate()
  useShortcut(`g ${second}`, () => void navigate({ to: path }))
  return null
}
