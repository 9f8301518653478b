import { ApiError } from '@mesh/api-client'
import { Link, useSearch } from '@tanstack/react-router'
import type { DnsView } from '@mesh/api-contract'
import { Plus, Search } from 'lucide-react'
import { nodeUrl } from '../../data/node-url.ts'
import { useRead } from '../../data/reads.ts'
import { useTrackedWrite } from '../../data/writes.ts'
import { putCommands } from '../../model/commands.ts'
import { shownName } from '../../model/shown-name.ts'
import { buttonLink } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { Command } from '../../parts/copy.tsx'
import { EmptyPicture } from '../../parts/empty-picture.tsx'
import { EmptyNote } from '../../parts/notes.tsx'
import { Cell, rowLink } from '../../parts/table.tsx'
import { WriteMark } from '../../parts/write-mark.tsx'
import css from '../lists/lists.module.css'
import { PlainList } from '../lists/plain-list.tsx'
import page from '../page.module.css'
import { NamePanel } from './name-panel.tsx'
import names from './names.module.css'
import { TestPanel } from './test-panel.tsx'

const COLUMNS = [{ title: 'Pattern' }, { title: 'Records' }]
const EXAMPLE = putCommands({ origin: nodeUrl, bucket: 'dns', key: '^git\\.lab\\.$' }, { A: '10.1.0.5' }).mesh

/** Patterns of names and what they answer, to add, change and delete in place. */
export function NamesPage() {
  const { q = '', view, pattern, name = '', type } = useSearch({ from: '/names' })
  const read = useRead('listDns', {})
  const panel =
    view === 'test' ? (
      <TestPanel name={name} type={type} />
    ) : view === 'new' || pattern !== undefined ? (
      <NamePanel key={pattern} pattern={pattern} names={read.data} />
    ) : undefined
  return (
    <PlainList
      title="Names"
      columns={COLUMNS}
      what="names"
      read={read}
      filter={q}
      filterRows={filterNames}
      nothingFits={<EmptyNote title="Nothing fits the filter" />}
      keyOf={({ Regex }) => Regex}
      renderCells={(name) => <NameCells name={name} />}
      isSelected={({ Regex }) => Regex === pattern}
      action={
        <div className={cx(page.aside, names.actions)}>
          <Link to="/names" search={{ view: 'test', ...(q !== '' && { q }) }} className={buttonLink}>
            <Search aria-hidden="true" />
            Test a name
          </Link>
          <Link to="/names" search={{ view: 'new', ...(q !== '' && { q }) }} className={buttonLink}>
            <Plus aria-hidden="true" />
            Add a name
          </Link>
        </div>
      }
      note={<ServerNote />}
      panel={panel}
      empty={
        <EmptyNote title="No names yet">
          <EmptyPicture of="names" />
          <p>Every member knows the names of machines and services. Add others here, or from a terminal:</p>
          <p>
            <Command text={EXAMPLE} />
          </p>
        </EmptyNote>
      }
    />
  )
}

/** Says whether programs on the node's machine can use the names. */
function ServerNote() {
  const { data: server, error } = useRead('getDnsServer', {})
  if (server !== undefined)
    return (
      <p className={names.server}>
        {`This node answers names at ${server.Listening.map(shownName).join(' and ')}; those of machines and services end with ${shownName(server.Zone)}`}
      </p>
    )
  if (!(error instanceof ApiError) || error.code !== 'dns.not_running') return null
  return (
    <p className={names.server}>
      Programs on this machine do not find these names yet. Start its node with{' '}
      <Command text="--dns 127.0.0.1:53 --dns-configure" />
    </p>
  )
}

function NameCells({ name: { Regex, Records } }: { name: DnsView }) {
  const write = useTrackedWrite('dns', Regex)
  return (
    <>
      <Cell className={css.pattern}>
        <Link
          to="/names"
          search={({ q }) => ({ pattern: Regex, ...(q !== undefined && { q }) })}
          className={rowLink}
        >
          {shownName(Regex)}
        </Link>
      </Cell>
      <Cell className={css.soft}>
        {Object.entries(Records).map(([type, value]) => (
          <span key={type} className={css.record}>
            <b>{shownName(type)}</b> {shownName(value)}
          </span>
        ))}
        {write !== undefined && <WriteMark write={write} brief />}
      </Cell>
    </>
  )
}

function filterNames(names: readonly DnsView[], filter: string): readonly DnsView[] {
  const wanted = filter.trim().toLowerCase()
  const textOf = ({ Regex, Records }: DnsView) => [Regex, ...Object.entries(Records).flat()].join(' ')
  return names.filter((name) => textOf(name).toLowerCase().includes(wanted))
}
