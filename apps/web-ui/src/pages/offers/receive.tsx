import { Link } from '@tanstack/react-router'
import { ApiError } from '@mesh/api-client'
import type { NodeDownloadView } from '@mesh/api-contract'
import { Download } from 'lucide-react'
import { useReceiveFile } from '../../data/changes.ts'
import { useNames } from '../../data/machines.tsx'
import { useNodeDownloads } from '../../data/offers-read.ts'
import { downloadState, isUnderWay } from '../../model/download-words.ts'
import { progressInWords } from '../../model/offer-progress.ts'
import { shownName, shownText } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/copy.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import css from './receive.module.css'

/** Fetches a file or folder of a member into the node's inbox: the button, then how far it is, then where it stands. */
export function Receive({ name }: { name: string }) {
  const { data } = useNodeDownloads()
  const download = data?.find(({ Name }) => Name === name)
  const receive = useReceiveFile()
  const isOpen = download === undefined || !isUnderWay(download)
  return (
    <span className={css.receive}>
      {download !== undefined && <Received download={download} />}
      {isOpen && download?.State !== 'received' && (
        <Button
          busy={receive.isPending}
          aria-label={`Receive ${shownName(name)}`}
          onClick={() => {
            if (!receive.isPending) receive.mutate(name)
          }}
        >
          <Download aria-hidden="true" />
          {receive.isPending ? 'Asking' : download === undefined ? 'Receive' : 'Receive again'}
        </Button>
      )}
      <Refused error={receive.error} />
    </span>
  )
}

/** Why the node does not fetch it, on one line. */
function Refused({ error }: { error: Error | null }) {
  if (error === null) return null
  const hint = error instanceof ApiError ? error.hint : undefined
  return (
    <span role="alert" className={css.refused} title={hint}>
      {shownText(error.message)}
      {hint === undefined ? '' : ` ${hint}`}
    </span>
  )
}

function Received({ download }: { download: NodeDownloadView }) {
  const name = useNames()
  const { Name, State, WrittenTo, Bytes, TotalBytes } = download
  if (State === 'received' && WrittenTo !== null) {
    return (
      <StateMark tone="committed" word="received">
        <Copy text={WrittenTo} what="path" mono />
      </StateMark>
    )
  }
  const { tone, word, detail } = downloadState(download, name)
  const { percent } = progressInWords(download)
  return (
    <>
      <Link to="/files" search={{ view: 'download', name: Name }} className={css.state}>
        <StateMark tone={tone} word={word}>
          {percent === undefined || !isUnderWay(download) ? detail : `${percent} %`}
        </StateMark>
      </Link>
      {isUnderWay(download) && TotalBytes !== null && (
        <progress value={Bytes} max={Math.max(1, TotalBytes)} aria-label={`Receiving ${shownName(Name)}`} />
      )}
    </>
  )
}
