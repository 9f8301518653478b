import { cx } from '../../parts/class-names.ts'
import { StateShape } from '../../parts/state-mark.tsx'
import css from './map.module.css'

interface MapLegendProps {
  /** Some nodes stand for all machines of a site. */
  readonly hasSites: boolean
  /** Machines of a site have an outline around them. */
  readonly hasOutlines: boolean
}

/** Says what lines and shapes mean. */
export function MapLegend({ hasSites, hasOutlines }: MapLegendProps) {
  return (
    <ul className={css.legend} aria-label="Legend">
      <li>
        <Line /> direct
      </li>
      <li>
        <Line className={css.relayedLine} /> relayed, through its relay
      </li>
      <li>
        <Line className={css.busyLine} /> wider: more traffic
      </li>
      <li>
        <StateShape tone="self" /> this node
      </li>
      <li>
        <StateShape tone="indirect" /> via others
      </li>
      <li>
        <StateShape tone="offline" /> offline
      </li>
      {hasSites && (
        <li>
          <i className={css.siteShape}>4</i> machines at one site; click opens it
        </li>
      )}
      {hasOutlines && (
        <li>
          <i className={css.outlineShape} /> around machines at one site
        </li>
      )}
    </ul>
  )
}

function Line({ className }: { className?: string | undefined }) {
  return (
    <svg viewBox="0 0 24 8" className={cx(css.line, className)} aria-hidden="true">
      <path d="M0 4h24" />
    </svg>
  )
}
