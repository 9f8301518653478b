import type { Choice } from '../../parts/choice.ts'
import { density, theme } from '../../parts/theme.ts'
import { words } from '../../words/en.ts'
import page from '../page.module.css'
import css from './settings.module.css'

/** How the page looks in this browser. */
export function Look() {
  return (
    <section className={page.section}>
      <h2>
        This page <span>kept in this browser</span>
      </h2>
      <Options title="Theme" choice={theme} names={words.themes} />
      <Options title="Density" choice={density} names={words.densities} />
    </section>
  )
}

interface OptionsProps<Value extends string> {
  readonly title: string
  readonly choice: Choice<Value>
  readonly names: Readonly<Record<Value, string>>
}

function Options<Value extends string>({ title, choice, names }: OptionsProps<Value>) {
  const chosen = choice.use()
  return (
    <fieldset className={css.options}>
      <legend>{title}</legend>
      {choice.values.map((value) => (
        <label key={value}>
          <input type="radio" name={title} checked={value === chosen} onChange={() => choice.choose(value)} />
          {names[value]}
        </label>
      ))}
    </fieldset>
  )
}
