import { useId } from 'react'
import { cx } from './class-names.ts'
import css from './field.module.css'

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** A remark under the field on what may stand here. */
  readonly hint?: React.ReactNode
  /** The fault of what stands here. */
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly autoFocus?: boolean
  /** It is not shown while it is typed, and no browser offers to keep it. */
  readonly secret?: boolean
}

/** One line to type: a name, an address, a path. What is wrong with it stands below it. */
export function TextField({
  label,
  value,
  onChange,
  hint,
  error,
  placeholder,
  autoFocus = false,
  secret = false,
}: TextFieldProps) {
  const id = useId()
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={css.input}
        type={secret ? 'password' : 'text'}
        value={value}
        placeholder={placeholder}
        required
        autoComplete={secret ? 'one-time-code' : 'off'}
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={autoFocus}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-about`}
        onChange={(event) => onChange(event.target.value)}
      />
      <div id={`${id}-about`}>
        {error !== undefined && (
          <p className={css.error} role="alert">
            {error}
          </p>
        )}
        {hint !== undefined && <p className={css.hint}>{hint}</p>}
      </div>
    </div>
  )
}

type FormProps = Omit<React.ComponentProps<'form'>, 'onSubmit'> & { readonly onSubmit: () => void }

/** A form that the page itself submits and checks. */
export function Form({ onSubmit, className, ...props }: FormProps) {
  return (
    <form
      noValidate
      {...props}
      className={cx(css.form, className)}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    />
  )
}

/** Classes for forms that lay out fields of their own. */
export const fieldClasses = css
