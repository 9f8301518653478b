import type { Commands } from '../model/commands.ts'
import css from './command-list.module.css'
import { Command } from './copy.tsx'

/** An action as it is typed in a terminal; each line copies itself. */
export function CommandList({ title, commands }: { title: string; commands: Commands }) {
  return (
    <div className={css.commands}>
      <h4>{title}</h4>
      <Command text={commands.mesh} />
      <Command text={commands.curl} />
    </div>
  )
}
