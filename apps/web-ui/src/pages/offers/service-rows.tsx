import { Link } from '@tanstack/react-router'
import type { NodeConnectionView, NodeServiceView } from '@mesh/api-contract'
import { useMachines } from '../../data/machines.tsx'
import { nameOf } from '../../model/machine.ts'
import { connectionState, serviceState } from '../../model/offer-words.ts'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { shownName, shownText } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell, type Column, rowLink } from '../../parts/virtual-rows.tsx'
import css from './offers.module.css'

const FIGURES: readonly Column[] = [
  { title: 'Open', align: 'end' },
  { title: 'In', align: 'end' },
  { title: 'Out', align: 'end' },
]
const SERVICE_COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'State' },
  { title: 'Target' },
  ...FIGURES,
]
const CONNECTION_COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'State' },
  { title: 'Reached at' },
  ...FIGURES,
]

interface ServiceRowsProps {
  readonly services: readonly NodeServiceView[]
  readonly openName: string | undefined
}

export function ServiceRows({ services, openName }: ServiceRowsProps) {
  const { machines } = useMachines()
  return (
    <Rows
      label="Offered by this node"
      columns={SERVICE_COLUMNS}
      rowClass={css.ownRow}
      rows={services}
      rowKey={({ Name }) => Name}
      isSelected={({ Name }) => Name === openName}
      renderCells={(service) => {
        const { tone, word, detail } = serviceState(service, (id) => nameOf(machines ?? [], id))
        const failure = service.State === 'target down' ? service.LastError : null
        return (
          <>
            <NameCell view="service" name={service.Name} />
            <Cell>
              <StateMark tone={tone} word={word}>
                {detail ?? (failure === null ? undefined : shownText(failure))}
              </StateMark>
            </Cell>
            <Cell className={css.place} title={service.Target}>
              {service.Target}
            </Cell>
            <TrafficCells traffic={service} />
          </>
        )
      }}
    />
  )
}

interface ConnectionRowsProps {
  readonly connections: readonly NodeConnectionView[]
  readonly openName: string | undefined
}

export function ConnectionRows({ connections, openName }: ConnectionRowsProps) {
  const { machines } = useMachines()
  return (
    <Rows
      label="Connected by this node"
      columns={CONNECTION_COLUMNS}
      rowClass={css.ownRow}
      rows={connections}
      rowKey={({ Name }) => Name}
      isSelected={({ Name }) => Name === openName}
      renderCells={(connection) => {
        const name = (id: string) => nameOf(machines ?? [], id)
        const { tone, word, detail } = connectionState(connection, name)
        const provider = connection.State === 'connected' ? connection.Provider : null
        return (
          <>
            <NameCell view="connection" name={connection.Name} />
            <Cell>
              <StateMark tone={tone} word={word}>
                {provider === null ? detail : `${detail ?? ''} to ${name(provider)}`}
              </StateMark>
            </Cell>
            <Cell className={css.place}>
              <Copy text={connection.Listen} what="address" mono />
            </Cell>
            <TrafficCells traffic={connection} />
          </>
        )
      }}
    />
  )
}

function NameCell({ view, name }: { view: 'service' | 'connection'; name: string }) {
  return (
    <Cell className={css.name}>
      <Link to="/services" search={(search) => ({ ...search, view, name })} className={rowLink}>
        {shownName(name)}
      </Link>
    </Cell>
  )
}

/** Shows the traffic; on a phone only the number of open connections stays; the panel has the rest. */
function TrafficCells({ traffic }: { traffic: NodeServiceView | NodeConnectionView }) {
  return (
    <>
      <Cell align="end" className={css.figure}>
        {countInWords(traffic.OpenConnections)}
        <span className={css.narrow}> open</span>
      </Cell>
      <Cell align="end" className={`${css.figure} ${css.wide}`}>
        {bytesInWords(traffic.BytesIn)}
      </Cell>
      <Cell align="end" className={`${css.figure} ${css.wide}`}>
        {bytesInWords(traffic.BytesOut)}
      </Cell>
    </>
  )
}
