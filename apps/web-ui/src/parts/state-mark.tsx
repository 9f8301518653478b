import type { StateTone } from '../model/state-tone.ts'
import { cx } from './class-names.ts'
import css from './state-mark.module.css'

interface StateMarkProps {
  readonly tone: StateTone
  readonly word: string
  /** The text after the word, softer: `4 ms`, `3 h`. */
  readonly children?: React.ReactNode
}

export function StateMark({ tone, word, children }: StateMarkProps) {
  return (
    <span className={css.state}>
      <span className={cx(css.word, css[tone])}>
        <StateShape tone={tone} />
        {word}
      </span>
      {children !== undefined && (
        <span className={css.detail} title={typeof children === 'string' ? children : undefined}>
          {children}
        </span>
      )}
    </span>
  )
}

/** The shape alone, where the word stands elsewhere. */
export function StateShape({ tone }: { tone: StateTone }) {
  return (
    <svg className={cx(css.shape, css[tone])} viewBox="0 0 10 10" aria-hidden="true">
      {SHAPES[tone]}
    </svg>
  )
}

const RING = <circle cx="5" cy="5" r="3.9" fill="none" stroke="currentColor" strokeWidth="1.4" />
const TRIANGLE = <path d="M5 .8 9.6 9H.4Z" fill="currentColor" />

const SHAPES: Record<StateTone, React.ReactNode> = {
  self: <path d="M5 .2 9.8 5 5 9.8.2 5Z" fill="currentColor" />,
  direct: <circle cx="5" cy="5" r="4.5" fill="currentColor" />,
  relayed: (
    <>
      {RING}
      <path d="M5 1.1a3.9 3.9 0 0 0 0 7.8z" fill="currentColor" />
    </>
  ),
  indirect: (
    <>
      {RING}
      <circle cx="5" cy="5" r="1.6" fill="currentColor" />
    </>
  ),
  offline: RING,
  announcing: (
    <circle
      cx="5"
      cy="5"
      r="3.9"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeDasharray="2 2.1"
    />
  ),
  committed: (
    <path
      d="m1 5.4 2.8 2.8L9 2.4"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinejoin="round"
    />
  ),
  refused: TRIANGLE,
  warning: TRIANGLE,
}
