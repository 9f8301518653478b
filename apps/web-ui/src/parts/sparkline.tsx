import { cx } from './class-names.ts'
import css from './sparkline.module.css'

const WIDTH = 120
const HEIGHT = 24
/** More points would make the line a blot. */
const MAX_POINTS = 60

interface SparklineProps {
  /** The name of what it shows, with its figure, for screen readers. */
  readonly label: string
  /** The values, the oldest first. */
  readonly values: readonly number[]
  /** True: as wide as there is room. */
  readonly isWide?: boolean
}

/** A small line without axes: the shape of the last hour. */
export function Sparkline({ label, values, isWide = false }: SparklineProps) {
  const drawn = averages(values)
  const top = Math.max(1, ...drawn)
  const points = drawn.map((value, at) => {
    const x = (at / Math.max(1, drawn.length - 1)) * WIDTH
    return `${x.toFixed(1)} ${(HEIGHT - 1 - (value / top) * (HEIGHT - 2)).toFixed(1)}`
  })
  const line = points.length < 2 ? `M0 ${HEIGHT - 1}H${WIDTH}` : `M${points.join('L')}`
  return (
    <svg
      className={cx(css.sparkline, isWide && css.wide)}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio={isWide ? 'none' : undefined}
      role="img"
      aria-label={label}
    >
      <path className={css.area} d={`${line}V${HEIGHT}H0Z`} />
      <path className={css.line} d={line} />
    </svg>
  )
}

/** One value for each of the neighbours that share a point. */
function averages(values: readonly number[]): readonly number[] {
  const each = Math.ceil(values.length / MAX_POINTS)
  return values.flatMap((_, at) => {
    if (at % each !== 0) return []
    const shared = values.slice(at, at + each)
    return shared.reduce((sum, value) => sum + value, 0) / shared.length
  })
}
