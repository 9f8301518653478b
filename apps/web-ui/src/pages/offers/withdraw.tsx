import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useRemoveOffer } from '../../data/offers.ts'
import { type OfferKind, withdrawCommands } from '../../model/commands.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList } from '../../parts/command-list.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldClasses } from '../../parts/field.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import css from './offers.module.css'

interface WithdrawProps {
  readonly kind: OfferKind
  readonly name: string
  /** The word on the button: `Withdraw`, `Disconnect`. */
  readonly action: string
  /** Who notices at once. */
  readonly affected: string
  /** How it is from then on. */
  readonly afterwards: string
}

/** Ends an offer or a connection; asks once, and says who is affected. */
export function Withdraw({ kind, name, action, affected, afterwards }: WithdrawProps) {
  const [asking, setAsking] = useState(false)
  const navigate = useNavigate()
  const remove = useRemoveOffer(kind)
  const to = kind === 'file' ? '/files' : '/services'
  return (
    <div>
      {remove.error !== null && <WriteErrorNote error={remove.error} />}
      <Button tone="danger" disabled={remove.isPending} onClick={() => setAsking(true)}>
        <Trash2 aria-hidden="true" />
        {action}
      </Button>
      {asking && (
        <Dialog title={`${action} ${name}?`} onClose={() => setAsking(false)}>
          <p>{affected}</p>
          <p className={css.hint}>{afterwards}</p>
          <CommandList
            title="The same from a terminal"
            commands={withdrawCommands({ origin: location.origin, kind, name })}
          />
          <div className={fieldClasses.actions}>
            <Button
              tone="danger"
              autoFocus
              onClick={() => {
                setAsking(false)
                remove.mutate(name, { onSuccess: () => void navigate({ to, search: {} }) })
              }}
            >
              {action}
            </Button>
            <Button tone="quiet" onClick={() => setAsking(false)}>
              Keep it
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  )
}
