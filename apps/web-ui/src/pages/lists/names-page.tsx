import { Link, useSearch } from '@tanstack/react-router'
import type { DnsView } from '@mesh/api-contract'
import { useRead } from '../../data/reads.ts'
import { Copy } from '../../parts/copy.tsx'
import { EmptyNote } from '../../parts/notes.tsx'
import { Cell, rowLink } from '../../parts/virtual-rows.tsx'
import css from './lists.module.css'
import { PlainList } from './plain-list.tsx'

const COLUMNS = [{ title: 'Pattern' }, { title: 'Records' }]
const EXAMPLE = `curl -X POST ${location.origin}/api/dns -H 'Content-Type: application/json' --data-binary '{"Regex":"^git\\\\.lab\\\\.$","Records":{"A":"10.1.0.5"}}'`

/** Patterns of names and what they answer. */
export function NamesPage() {
  const { q = '' } = useSearch({ from: '/names' })
  const read = useRead('listDns', {})
  return (
    <PlainList
      title="Names"
      columns={COLUMNS}
      rows={read.data}
      error={read.error}
      retry={() => void read.refetch()}
      filter={q}
      textOf={textOf}
      keyOf={({ Regex }) => Regex}
      renderCells={(name) => <NameCells name={name} />}
      empty={
        <EmptyNote title="No names yet">
          <p>
            A name is a regular expression with the addresses that it answers; any member can register one:
          </p>
          <p>
            <Copy text={EXAMPLE} what="command" mono wrap />
          </p>
        </EmptyNote>
      }
    />
  )
}

function NameCells({ name: { Regex, Records } }: { name: DnsView }) {
  return (
    <>
      <Cell className={css.pattern}>
        <Link to="/ledger" search={{ bucket: 'dns', key: Regex }} className={rowLink}>
          {Regex}
        </Link>
      </Cell>
      <Cell className={css.soft}>
        {Object.entries(Records).map(([type, value]) => (
          <span key={type} className={css.record}>
            <b>{type}</b> {value}
          </span>
        ))}
      </Cell>
    </>
  )
}

function textOf({ Regex, Records }: DnsView): string {
  return [Regex, ...Object.entries(Records).flat()].join(' ')
}
