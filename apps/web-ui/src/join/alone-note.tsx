import { AddMachineButton } from './add-machine-button.tsx'
import css from './join.module.css'

/** What an empty network shows: a picture and the one thing to do. */
export function AloneNote() {
  return (
    <div className={css.alone}>
      <svg viewBox="0 0 240 96" aria-hidden="true">
        <path d="M72 48h96" strokeDasharray="5 6" />
        <circle cx="48" cy="48" r="22" className={css.here} />
        <circle cx="192" cy="48" r="22" strokeDasharray="5 6" />
      </svg>
      <h2>No other machine yet</h2>
      <p>A network begins with two. Add the second one, and it appears here as soon as it has joined.</p>
      <AddMachineButton tone="primary" />
    </div>
  )
}
