import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useRemoveOffer } from '../../data/offers.ts'
import { type OfferKind, withdrawCommands } from '../../model/commands.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
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
  const { mesh, curl } = withdrawCommands({ origin: nodeUrl, kind, name })
  return (
    <div>
      {remove.error !== null && <WriteErrorNote error={remove.error} />}
      <Button tone="danger" disabled={remove.isPending} onClick={() => setAsking(true)}>
        <Trash2 aria-hidden="true" />
        {action}
      </Button>
      {asking && (
        <Confirm
          title={`${action} ${name}?`}
          action={action}
          refusal="Keep it"
          commands={[mesh, curl]}
          onClose={() => setAsking(false)}
          onConfirm={() => remove.mutate(name, { onSuccess: () => void navigate({ to, search: {} }) })}
        >
          <p>{affected}</p>
          <p className={css.hint}>{afterwards}</p>
        </Confirm>
      )}
    </div>
  )
}
