import { cx } from './class-names.ts'
import css from './button.module.css'

type ButtonProps = React.ComponentProps<'button'> & {
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet'
}

/** One action. `quiet` has no line until it is pointed at. */
export function Button({ tone = 'plain', className, ...props }: ButtonProps) {
  return <button type="button" {...props} className={cx(css.button, css[tone], className)} />
}

/** The classes of a button, for links that look like one. */
export const buttonLink = cx(css.button, css.plain)
