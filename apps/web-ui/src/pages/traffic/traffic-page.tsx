import type { TrafficHistoryView } from '@mesh/api-contract'
import { useMemo, useState } from 'react'
import { useNames } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { useTrafficHistory } from '../../data/traffic.ts'
import { protocolInWords } from '../../model/protocol-words.ts'
import { bytesInWords, rateInWords } from '../../model/rate-words.ts'
import { type Direction, type Flow, largestFlows, sumOf, timesOf } from '../../model/traffic-history.ts'
import { Chart } from '../../parts/chart.tsx'
import { cx } from '../../parts/class-names.ts'
import { EmptyNote, Unread } from '../../parts/notes.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import page from '../page.module.css'
import { FlowTable } from './flow-table.tsx'
import css from './traffic.module.css'
import { VpnTraffic } from './vpn-traffic.tsx'

const NOW_EVERY_MS = 2_000
const TOTALS_EVERY_MS = 10_000
/** More areas than this nobody tells apart. */
const MOST_SERIES = 6

/** Shows the traffic of now and of the last hour, by machine and by protocol. */
export function TrafficPage() {
  const [direction, setDirection] = useState<Direction>('both')
  const history = useTrafficHistory()
  return (
    <div className={cx(page.page, css.page)}>
      <header className={page.head}>
        <h1>Traffic</h1>
        <span className={page.sub}>now, and the last hour</span>
        <Directions direction={direction} onChange={setDirection} />
      </header>
      <Now history={history.data} />
      <Unread what="the traffic" read={history} />
      {history.data !== undefined && <History history={history.data} direction={direction} />}
    </div>
  )
}

const DIRECTIONS: readonly (readonly [Direction, string])[] = [
  ['both', 'Both'],
  ['in', 'In'],
  ['out', 'Out'],
]

function Directions({
  direction,
  onChange,
}: {
  direction: Direction
  onChange: (direction: Direction) => void
}) {
  return (
    <div role="group" aria-label="Direction" className={css.directions}>
      {DIRECTIONS.map(([each, word]) => (
        <button key={each} type="button" aria-pressed={each === direction} onClick={() => onChange(each)}>
          {word}
        </button>
      ))}
    </div>
  )
}

function Now({ history }: { history: TrafficHistoryView | undefined }) {
  const { data } = useRead('getTraffic', {}, { everyMs: NOW_EVERY_MS })
  if (data === undefined) return null
  return (
    <div className={css.now}>
      <Figure word="in" rate={data.RateIn} total={data.TotalIn} hour={history?.In} />
      <Figure word="out" rate={data.RateOut} total={data.TotalOut} hour={history?.Out} />
    </div>
  )
}

interface FigureProps {
  readonly word: string
  readonly rate: number
  readonly total: number
  readonly hour: readonly number[] | undefined
}

function Figure({ word, rate, total, hour }: FigureProps) {
  const { figure, unit } = rateInWords(rate)
  return (
    <div>
      <p>
        <span>{word}</span>
        <b>{figure}</b> {unit}
        <small>{bytesInWords(total)} since the start</small>
      </p>
      {hour !== undefined && <Sparkline label={`${word}, the last hour`} values={hour} />}
    </div>
  )
}

const rateText = (bytes: number) => {
  const { figure, unit } = rateInWords(bytes)
  return `${figure} ${unit}`
}

interface HistoryProps {
  readonly history: TrafficHistoryView
  readonly direction: Direction
}

function History({ history, direction }: HistoryProps) {
  const name = useNames()
  const peers = useRead('listPeerTraffic', {}, { everyMs: TOTALS_EVERY_MS })
  const protocols = useRead('listProtocolTraffic', {}, { everyMs: TOTALS_EVERY_MS })
  const times = useMemo(() => timesOf(history), [history])
  const all = useMemo(
    () => [
      ...(direction === 'out' ? [] : [{ name: 'in', values: history.In }]),
      ...(direction === 'in' ? [] : [{ name: 'out', values: history.Out }]),
    ],
    [history, direction],
  )
  if (sumOf(history.In) + sumOf(history.Out) === 0) return <NoTraffic />
  const by = { step: history.StepSeconds, times, direction }
  const protocolName = (id: string) => protocolInWords(id) ?? id
  return (
    <>
      <section className={page.section}>
        <h2>All traffic</h2>
        <Chart label="Traffic of the last hour" times={times} series={all} format={rateText} />
      </section>
      <div className={css.pair}>
        <FlowSection {...by} title="By machine" flows={history.Peers} totals={peers.data} name={name} />
        <FlowSection
          {...by}
          title="By protocol"
          flows={history.Protocols}
          totals={protocols.data}
          name={protocolName}
        />
      </div>
      {history.Vpn !== null && <VpnTraffic vpn={history.Vpn} times={times} step={history.StepSeconds} />}
    </>
  )
}

interface FlowSectionProps {
  readonly title: string
  readonly step: number
  readonly times: readonly number[]
  readonly direction: Direction
  readonly flows: readonly Flow[]
  readonly totals: Parameters<typeof FlowTable>[0]['totals']
  readonly name: (id: string) => string
}

function FlowSection({ title, flows, direction, times, step, totals, name }: FlowSectionProps) {
  const nameOf = (id: string) => (id === '' ? 'all others' : name(id))
  const series = largestFlows(flows, direction, MOST_SERIES).map(({ id, rates }) => ({
    name: nameOf(id),
    values: rates,
    isRest: id === '',
  }))
  return (
    <section className={page.section}>
      <h2>{title}</h2>
      <Chart label={`Traffic ${title.toLowerCase()}`} times={times} series={series} format={rateText} />
      <FlowTable
        label={`Figures ${title.toLowerCase()}`}
        flows={flows}
        direction={direction}
        step={step}
        totals={totals}
        name={nameOf}
      />
    </section>
  )
}

function NoTraffic() {
  return (
    <div className={css.none}>
      <svg viewBox="0 0 600 120" preserveAspectRatio="none" aria-hidden="true">
        <path d="M0 30H600M0 60H600M0 90H600" className={css.noneGrid} />
        <path d="M0 118H600" className={css.noneLine} />
      </svg>
      <EmptyNote title="Nothing counted yet">
        <p>The node counts its traffic in steps of 10 s. Each step appears here and stays for an hour.</p>
      </EmptyNote>
    </div>
  )
}
