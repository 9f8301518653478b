import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { SHORTCUTS } from '../parts/shortcuts.ts'
import { words } from '../words/en.ts'
import { SECTIONS } from './sections.ts'
import css from './shortcut-help.module.css'

const GO = SECTIONS.map(({ path, key }) => [`g ${key}`, words.sections[path]] as const)

/** All keys of the page. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className={css.keys}>
        {[...GO, ...SHORTCUTS].map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <Button onClick={onClose}>Close</Button>
    </Dialog>
  )
}
