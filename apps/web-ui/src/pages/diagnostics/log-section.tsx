import { useDeferredValue, useState } from 'react'
import { type LogLine, useLogTail } from '../../data/log-tail.ts'
import { exactTime, secondTime } from '../../model/time-words.ts'
import { shownText } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { fieldClasses } from '../../parts/field.tsx'
import { ErrorNote } from '../../parts/notes.tsx'
import page from '../page.module.css'
import css from './diagnostics.module.css'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]

/** The most lines that are laid out. */
const MAX_SHOWN_LINES = 300

/** The log as it is written, once somebody opens it. */
export function LogSection() {
  const [isOpen, setOpen] = useState(false)
  return (
    <section className={cx(page.section, css.log)} aria-label="Log">
      <div className={css.head}>
        <h2>
          Log <span>as the node writes it</span>
        </h2>
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide the log' : 'Show the log'}
        </Button>
      </div>
      {isOpen && <Tail />}
    </section>
  )
}

function Tail() {
  const [isPaused, setPaused] = useState(false)
  const [least, setLeast] = useState<Level>('debug')
  const [wanted, setWanted] = useState('')
  const { lines, error } = useLogTail(!isPaused)
  const filter = useDeferredValue(wanted).trim().toLowerCase()
  const shown = lines
    .filter(({ Level }) => LEVELS.indexOf(Level) >= LEVELS.indexOf(least))
    .filter(({ Subsystem, Text }) => `${Subsystem} ${Text}`.toLowerCase().includes(filter))
    .slice(-MAX_SHOWN_LINES)
    .toReversed()
  return (
    <>
      <div className={css.tools}>
        <select
          className={fieldClasses.input}
          aria-label="Least level"
          value={least}
          onChange={(event) => setLeast(LEVELS.find((level) => level === event.target.value) ?? 'debug')}
        >
          {LEVELS.map((level) => (
            <option key={level}>{level}</option>
          ))}
        </select>
        <input
          type="search"
          className={fieldClasses.input}
          aria-label="Filter the log"
          placeholder="Filter the log"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
        <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </Button>
      </div>
      {error !== undefined && <ErrorNote title="The log could not be read" error={error} />}
      {error === undefined && shown.length === 0 && <p className={page.sub}>No line fits.</p>}
      <ol className={css.lines} aria-label="Log lines, the last first">
        {shown.map((line) => (
          <Line key={line.Sequence} line={line} />
        ))}
      </ol>
    </>
  )
}

function Line({ line: { Time, Level, Subsystem, Text } }: { line: LogLine }) {
  const at = Date.parse(Time)
  return (
    <li className={css.line}>
      <time dateTime={Time} title={exactTime(at)}>
        {secondTime(at)}
      </time>
      <span className={css[Level]}>{Level}</span>
      <span className={css.subsystem}>{shownText(Subsystem)}</span>
      <span>{shownText(Text)}</span>
    </li>
  )
}
