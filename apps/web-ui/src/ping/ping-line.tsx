import css from './ping.module.css'
import { MAX_PINGS, type Ping } from './use-pings.ts'

/** Units of the drawing; it is stretched to the width of its place. */
const WIDTH = MAX_PINGS - 1
const HEIGHT = 64
const LOST_HEIGHT = 10

/** Round trips as a line that grows to the right; a gap and a mark where no answer came. */
export function PingLine({ pings, label }: { pings: readonly Ping[]; label: string }) {
  const first = WIDTH - (pings.length - 1)
  return (
    <svg
      className={css.chart}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className={css.floor} d={`M0 ${HEIGHT - 1}H${WIDTH}`} />
      <path className={css.line} d={linePath(pings, first)} />
      <path className={css.lost} d={lostPath(pings, first)} />
    </svg>
  )
}

/** The line through all answers; it breaks where one is missing. */
export function linePath(pings: readonly Ping[], first: number): string {
  const top = Math.max(1, ...pings.map(({ roundTripMs = 0 }) => roundTripMs)) * 1.1
  let pen = 'M'
  let path = ''
  for (const [at, { roundTripMs }] of pings.entries()) {
    if (roundTripMs !== undefined) {
      const y = (HEIGHT - (roundTripMs / top) * HEIGHT).toFixed(1)
      // a line to the same place draws a dot where the next answer is missing
      path += `${pen}${first + at} ${y}${pen === 'M' ? 'h0' : ''}`
    }
    pen = roundTripMs === undefined ? 'M' : 'L'
  }
  return path
}

function lostPath(pings: readonly Ping[], first: number): string {
  return pings
    .map(({ roundTripMs }, at) =>
      roundTripMs === undefined ? `M${first + at} ${HEIGHT - LOST_HEIGHT}V${HEIGHT}` : '',
    )
    .join('')
}
