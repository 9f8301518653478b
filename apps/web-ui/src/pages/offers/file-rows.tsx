import { Link } from '@tanstack/react-router'
import type { NodeFileView } from '@mesh/api-contract'
import { useMachines } from '../../data/machines.tsx'
import { nameOf } from '../../model/machine.ts'
import { fileState } from '../../model/offer-words.ts'
import { progressInWords } from '../../model/offer-progress.ts'
import { countInWords } from '../../model/rate-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell, type Column, rowLink } from '../../parts/virtual-rows.tsx'
import css from './offers.module.css'

const COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'State' },
  { title: 'Path' },
  { title: 'Receiving now' },
  { title: 'Completed', align: 'end' },
]

interface FileRowsProps {
  readonly files: readonly NodeFileView[]
  readonly openName: string | undefined
}

export function FileRows({ files, openName }: FileRowsProps) {
  const { machines } = useMachines()
  const name = (id: string) => nameOf(machines ?? [], id)
  return (
    <Rows
      label="Offered by this node"
      columns={COLUMNS}
      rowClass={css.fileRow}
      rows={files}
      rowKey={({ Name }) => Name}
      isSelected={({ Name }) => Name === openName}
      renderCells={(file) => {
        const { tone, word, detail } = fileState(file, name)
        return (
          <>
            <Cell className={css.name}>
              <Link
                to="/files"
                search={(search) => ({ ...search, view: 'file' as const, name: file.Name })}
                className={rowLink}
              >
                {shownName(file.Name)}
              </Link>
            </Cell>
            <Cell>
              <StateMark tone={tone} word={word}>
                {detail}
              </StateMark>
            </Cell>
            <Cell className={css.place} title={file.Path}>
              {file.Path}
            </Cell>
            <Cell className={`${css.figure} ${css.wide}`}>{receiversInWords(file, name)}</Cell>
            <Cell align="end" className={css.figure}>
              {countInWords(file.Completed)}
              <span className={css.narrow}> completed</span>
            </Cell>
          </>
        )
      }}
    />
  )
}

/** One by name with its progress; of several their number. */
function receiversInWords({ Receivers }: NodeFileView, name: (id: string) => string): string {
  const [first] = Receivers
  if (first === undefined) return ''
  if (Receivers.length > 1) return `${countInWords(Receivers.length)} members`
  const progress = progressInWords(first)
  return `${name(first.PeerID)} ${progress.percent === undefined ? progress.bytes : `${progress.percent} %`}`
}
