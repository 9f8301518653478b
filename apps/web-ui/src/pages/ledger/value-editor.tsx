import { MAX_VALUE_BYTES } from '@mesh/api-contract'
import { stringifyExactJson } from '@mesh/core'
import { useId } from 'react'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { describeValue, readTypedValue } from '../../model/typed-value.ts'
import { cx } from '../../parts/class-names.ts'
import css from './ledger.module.css'

const encoder = new TextEncoder()

interface ValueEditorProps {
  readonly text: string
  /** Where a heading says already what this is. */
  readonly hideLabel?: boolean
  readonly onChange: (text: string) => void
  readonly onSubmit: () => void
}

/** A field for a value: JSON, or any text; says what will be stored. Ctrl-Enter submits. */
export function ValueEditor({ text, hideLabel = false, onChange, onSubmit }: ValueEditorProps) {
  const id = useId()
  const bytes = valueBytes(text)
  return (
    <div className={css.field}>
      <label htmlFor={id} className={cx(hideLabel && css.unseen)}>
        Value
      </label>
      <textarea
        id={id}
        className={css.textarea}
        value={text}
        rows={Math.min(18, Math.max(3, text.split('\n').length))}
        spellCheck={false}
        autoComplete="off"
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit()
        }}
      />
      <p id={`${id}-hint`} className={css.hint}>
        {bytes > MAX_VALUE_BYTES ? (
          <span className={css.wrong}>
            {countInWords(bytes)} bytes; a value may have {countInWords(MAX_VALUE_BYTES)}
          </span>
        ) : (
          `Stored as ${describeValue(readTypedValue(text).value)}, ${bytesInWords(bytes)}.`
        )}
      </p>
    </div>
  )
}

/** True when the node would take a value of this size. */
export function fitsLimit(text: string): boolean {
  return valueBytes(text) <= MAX_VALUE_BYTES
}

function valueBytes(text: string): number {
  return encoder.encode(stringifyExactJson(readTypedValue(text).value)).length
}
