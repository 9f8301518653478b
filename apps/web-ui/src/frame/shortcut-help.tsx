import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { SHORTCUTS } from '../parts/shortcuts.ts'
import css from './shortcut-help.module.css'

/** All keys of the page. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className={css.keys}>
        {SHORTCUTS.map(([keys, does]) => (
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
