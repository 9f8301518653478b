import type { NodeDownloadView } from '@mesh/api-contract'
import { useNavigate } from '@tanstack/react-router'
import { CircleStop, Eraser } from 'lucide-react'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useEndDownload } from '../../data/offers.ts'
import { endDownloadCommand, receiveCommand } from '../../model/commands.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy } from '../../parts/copy.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'

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
      {end.error !== null && <WriteErrorNote error={end.error} />}
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
          <p>Whoever asked for it is told. What has come is kept, and this goes on with it:</p>
          <Copy text={receiveCommand(Name, Destination)} what="command" mono wrap />
        </Confirm>
      )}
    </div>
  )
}
