import type { NodeDownloadView } from '@mesh/api-contract'
import { useNavigate } from '@tanstack/react-router'
import { CircleStop, Eraser, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useEndDownload, useRemoveOffer } from '../../data/changes.ts'
import { nodeUrl } from '../../data/node-url.ts'
import { endDownloadCommand, type OfferKind, receiveCommand, withdrawCommands } from '../../model/commands.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Command } from '../../parts/copy.tsx'
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
      <WriteErrorNote error={remove.error} />
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

interface EndDownloadProps {
  readonly download: NodeDownloadView
  readonly isUnderWay: boolean
}

/** Stops a download, after asking; takes one that has ended from the list at once. */
export function EndDownload({ download: { Name, Destination }, isUnderWay }: EndDownloadProps) {
  const [asking, setAsking] = useState(false)
  const navigate = useNavigate()
  const end = useEndDownload()
  const endIt = () => end.mutate(Name, { onSuccess: () => void navigate({ to: '/files', search: {} }) })
  return (
    <div>
      <WriteErrorNote error={end.error} />
      {isUnderWay ? (
        <Button tone="danger" disabled={end.isPending} onClick={() => setAsking(true)}>
          <CircleStop aria-hidden="true" />
          Stop
        </Button>
      ) : (
        <Button disabled={end.isPending} onClick={endIt}>
          <Eraser aria-hidden="true" />
          Take from the list
        </Button>
      )}
      {asking && (
        <Confirm
          title={`Stop receiving ${Name}?`}
          action="Stop"
          refusal="Go on"
          commands={[endDownloadCommand({ origin: nodeUrl, name: Name })]}
          onClose={() => setAsking(false)}
          onConfirm={endIt}
        >
          <p>The command that asked for it is told. What has come is kept, and this goes on with it:</p>
          <Command text={receiveCommand(Name, Destination)} />
        </Confirm>
      )}
    </div>
  )
}
