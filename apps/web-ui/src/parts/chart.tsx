import 'uplot/dist/uPlot.min.css'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type uPlot from 'uplot'
import { stackSeries } from '../model/traffic-history.ts'
import { clockTime } from '../model/time-words.ts'
import css from './chart.module.css'
import { useTokenColours } from './token-colours.ts'

interface ChartSeries {
  readonly name: string
  /** One for each time. */
  readonly values: readonly number[]
  /** It stands for all that has no series of its own. */
  readonly isRest?: boolean
}

interface ChartProps {
  readonly label: string
  /** The times in Unix seconds. */
  readonly times: readonly number[]
  /** Stacked, the first at the bottom. */
  readonly series: readonly ChartSeries[]
  readonly format: (value: number) => string
}

const COLOURS = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const
const TOKENS = [...COLOURS, 'series-rest', 'line', 'faint'] as const
const HEIGHT_PX = 200
/** A node that has just started has one value, which is no span of time. */
const SHORTEST_SECONDS = 600
/** Between two ticks of the time axis: their labels have no seconds. */
const TICK_SECONDS = [60, 120, 300, 600, 1_200, 1_800, 3_600]
type Colours = Readonly<Record<(typeof TOKENS)[number], string>>

/** Areas over time. The legend says the values at the pointer, or else the last ones. */
export function Chart({ label, times, series, format }: ChartProps) {
  const [hovered, setHovered] = useState<number>()
  const colours = useTokenColours(TOKENS)
  const holder = usePlot({ times, series, colours, format, onHover: setHovered })
  const at = hovered ?? times.length - 1
  const time = times[at]
  return (
    <figure className={css.chart} aria-label={label}>
      <div ref={holder} className={css.plot} style={{ height: HEIGHT_PX }} />
      <figcaption className={css.legend}>
        <span className={css.time}>
          {hovered === undefined || time === undefined ? 'now' : clockTime(time * 1_000)}
        </span>
        <ul>
          {series.map((each, index) => (
            <li key={each.name}>
              <i style={{ background: colourOf(colours, each, index) }} />
              {each.name} <b>{format(each.values[at] ?? 0)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

function colourOf(colours: Colours, { isRest = false }: ChartSeries, index: number): string {
  return colours[isRest ? 'series-rest' : (COLOURS[index % COLOURS.length] ?? 'series-rest')]
}

interface PlotInit {
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  readonly colours: Colours
  readonly format: (value: number) => string
  readonly onHover: (at: number | undefined) => void
}

/** Loads the library with the first chart; draws anew when names or colours change, and else only the values. */
function usePlot(init: PlotInit): React.RefObject<HTMLDivElement | null> {
  const holder = useRef<HTMLDivElement>(null)
  const [plot, setPlot] = useState<uPlot>()
  const { times, series, colours } = init
  const onHover = useEffectEvent(init.onHover)
  const options = useEffectEvent((width: number) => optionsOf(init, width, onHover))
  const looks = series.map(({ name }) => name).join('\n')
  useEffect(() => {
    const element = holder.current
    // jsdom has neither
    if (element === null || typeof ResizeObserver === 'undefined') return undefined
    let created: uPlot | undefined
    let isOver = false
    const sizes = new ResizeObserver(() =>
      created?.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    )
    void import('uplot').then(({ default: Plot }) => {
      if (isOver) return
      created = new Plot(options(element.clientWidth), [[]], element)
      sizes.observe(element)
      setPlot(created)
    })
    return () => {
      isOver = true
      sizes.disconnect()
      created?.destroy()
      setPlot(undefined)
    }
  }, [colours, looks])
  useEffect(() => plot?.setData(dataOf(times, series)), [plot, times, series])
  return holder
}

/** The highest area first: the lower ones are drawn over it. */
function dataOf(times: readonly number[], series: readonly ChartSeries[]): uPlot.AlignedData {
  return [[...times], ...stackSeries(series.map(({ values }) => values)).toReversed()]
}

function optionsOf(
  { series, colours, format }: PlotInit,
  width: number,
  onHover: (at: number | undefined) => void,
): uPlot.Options {
  const font = '12px Inter, system-ui, sans-serif'
  const axis = { font, stroke: colours.faint, ticks: { show: false } }
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    // half a label of the time axis has room at the end
    padding: [8, 20, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (_plot, low, high) => [Math.min(low, high - SHORTEST_SECONDS), Math.max(high, 0)] },
      y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.05)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        incrs: [...TICK_SECONDS],
        grid: { show: false },
        values: (_plot, ticks) => ticks.map((tick) => clockTime(tick * 1_000)),
      },
      {
        ...axis,
        size: 84,
        grid: { stroke: colours.line, width: 1 },
        values: (_plot, ticks) => ticks.map((tick) => format(tick)),
      },
    ],
    series: [
      {},
      ...series
        .map((each, index) => ({ label: each.name, colour: colourOf(colours, each, index) }))
        .toReversed()
        .map(({ label, colour }) => ({
          label,
          width: 1,
          stroke: colour,
          fill: colour,
          points: { show: false },
        })),
    ],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)] },
  }
}
