import { Button } from './button.tsx'
import css from './command-list.module.css'
import { Command } from './copy.tsx'
import { Dialog, FOCUS_FIRST } from './dialog.tsx'
import { fieldClasses } from './field.tsx'

interface ConfirmProps {
  readonly title: string
  /** The word on the button. */
  readonly action: string
  /** The word on the button that changes nothing. */
  readonly refusal?: string
  /** The same, as it is typed in a terminal. */
  readonly commands?: readonly string[]
  readonly onClose: () => void
  readonly onConfirm: () => void
  readonly children: React.ReactNode
}

/** Asks once before something that others notice; says what follows. */
export function Confirm({ title, action, onClose, onConfirm, children, ...more }: ConfirmProps) {
  const { refusal = 'Leave it', commands = [] } = more
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {commands.length > 0 && (
        <div className={css.commands}>
          <h4>The same from a terminal</h4>
          {commands.map((command) => (
            <Command key={command} text={command} />
          ))}
        </div>
      )}
      <div className={fieldClasses.actions}>
        <Button
          tone="danger"
          {...FOCUS_FIRST}
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {action}
        </Button>
        <Button tone="quiet" onClick={onClose}>
          {refusal}
        </Button>
      </div>
    </Dialog>
  )
}
