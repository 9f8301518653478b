import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldClasses } from '../../parts/field.tsx'
import css from './access.module.css'

interface ConfirmProps {
  readonly title: string
  /** The word on the button. */
  readonly action: string
  /** The same, as it is typed in a terminal. */
  readonly commands: readonly string[]
  readonly onClose: () => void
  readonly onConfirm: () => void
  readonly children: React.ReactNode
}

/** Asks once before something that others notice; says what follows. */
export function Confirm({ title, action, commands, onClose, onConfirm, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div className={css.commands}>
        <h4>The same from a terminal</h4>
        {commands.map((command) => (
          <Copy key={command} text={command} what="command" mono wrap />
        ))}
      </div>
      <div className={fieldClasses.actions}>
        <Button
          tone="danger"
          autoFocus
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {action}
        </Button>
        <Button tone="quiet" onClick={onClose}>
          Leave it
        </Button>
      </div>
    </Dialog>
  )
}
