import type { LogLevelView } from '@mesh/api-contract'
import { useState } from 'react'
import { useSetLogLevel } from '../../data/changes.ts'
import { useRead } from '../../data/reads.ts'
import { shownText } from '../../model/shown-name.ts'
import { Button } from '../../parts/button.tsx'
import { Form, TextField } from '../../parts/field.tsx'
import { Unread, WriteErrorNote } from '../../parts/notes.tsx'
import page from '../page.module.css'
import css from './diagnostics.module.css'

/** Shows the levels that the node logs, and changes them. */
export function LogLevels() {
  const read = useRead('getLogLevel', {})
  return (
    <section className={page.section} aria-label="Log levels">
      <h2>Log levels</h2>
      <Unread what="the log levels" read={read} />
      {read.data !== undefined && <LevelForm key={read.data.Level} levels={read.data} />}
    </section>
  )
}

function LevelForm({ levels }: { levels: LogLevelView }) {
  const change = useSetLogLevel()
  const [level, setLevel] = useState(levels.Level)
  const [keep, setKeep] = useState(levels.Kept)
  return (
    <Form
      onSubmit={() => {
        if (!change.isPending) change.mutate({ level: level.trim(), keep })
      }}
    >
      <TextField
        label="Level"
        value={level}
        onChange={setLevel}
        hint="One level for all, then others for single subsystems: info,p2p=debug"
      />
      <label className={css.check}>
        <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
        Keep it after a restart
      </label>
      <WriteErrorNote error={change.error} />
      <div>
        <Button type="submit" busy={change.isPending} disabled={level.trim() === ''}>
          Set the level
        </Button>
      </div>
      <ul className={css.subsystems} aria-label="Subsystems">
        {levels.Subsystems.map(({ Name, Level }) => (
          <li key={Name}>
            {shownText(Name)} <b>{Level}</b>
          </li>
        ))}
      </ul>
    </Form>
  )
}
