import { Link } from '@tanstack/react-router'
import type { NodeDownloadView } from '@mesh/api-contract'
import { useMachines } from '../../data/machines.tsx'
import { downloadState, isUnderWay } from '../../model/download-words.ts'
import { nameOf } from '../../model/machine.ts'
import { progressInWords } from '../../model/offer-progress.ts'
import { bytesInWords } from '../../model/rate-words.ts'
import { shownName, shownText } from '../../model/shown-name.ts'
import { Rate } from '../../parts/rate.tsx'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell, type Column, rowLink } from '../../parts/virtual-rows.tsx'
import css from './offers.module.css'

const COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'State' },
  { title: 'Goes to' },
  { title: 'Progress' },
  { title: 'Rate', align: 'end' },
]

interface DownloadRowsProps {
  readonly downloads: readonly NodeDownloadView[]
  readonly openName: string | undefined
}

export function DownloadRows({ downloads, openName }: DownloadRowsProps) {
  const { machines } = useMachines()
  return (
    <Rows
      label="Fetched by this node"
      columns={COLUMNS}
      rowClass={css.downloadRow}
      rows={downloads}
      rowKey={({ Name }) => Name}
      isSelected={({ Name }) => Name === openName}
      renderCells={(download) => {
        const { tone, word, detail } = downloadState(download, (id) => nameOf(machines ?? [], id))
        const place = download.WrittenTo ?? download.Destination
        return (
          <>
            <Cell className={css.name}>
              <Link
                to="/files"
                search={(search) => ({ ...search, view: 'download' as const, name: download.Name })}
                className={rowLink}
              >
                {shownName(download.Name)}
              </Link>
            </Cell>
            <Cell>
              <StateMark tone={tone} word={word}>
                {download.State === 'failed' && download.LastError !== null
                  ? shownText(download.LastError)
                  : detail}
              </StateMark>
            </Cell>
            <Cell className={css.place} title={place}>
              {place}
            </Cell>
            <Cell className={css.figure}>{progressOf(download)}</Cell>
            <Cell align="end" className={`${css.figure} ${css.wide}`}>
              {download.State === 'receiving' && <Rate bytesPerSecond={download.Rate} />}
            </Cell>
          </>
        )
      }}
    />
  )
}

/** `25 %, 2 min left` while it comes; how much it was afterwards. */
function progressOf(download: NodeDownloadView): string {
  if (!isUnderWay(download)) return download.Bytes === 0 ? '' : bytesInWords(download.Bytes)
  const { percent, bytes, left } = progressInWords(download)
  if (download.Bytes === 0 && percent === undefined) return ''
  return [percent === undefined ? bytes : `${percent} %`, left === undefined ? '' : `${left} left`]
    .filter((part) => part !== '')
    .join(', ')
}
