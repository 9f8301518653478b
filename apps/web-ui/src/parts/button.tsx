import { cx } from './class-names.ts'
import css from './button.module.css'

type ButtonProps = React.ComponentProps<'button'> & {
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet'
  /** True while the work that it began is under way. It looks disabled and keeps the focus, which a disabled one would lose. */
  readonly busy?: boolean
}

/** One action. `quiet` has no line until it is pointed at. */
export function Button({ tone = 'plain', busy = false, className, ...props }: ButtonProps) {
  const look = cx(css.button, css[tone], busy && css.busy, className)
  return (
    <button
      type="button"
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      {...props}
      className={look}
    />
  )
}

/** The classes of a button, for links that look like one. */
export const buttonLink = cx(css.button, css.plain)
