import { Copy as CopyIcon } from 'lucide-react'
import { useState } from 'react'
import { shownText } from '../model/shown-name.ts'
import { cx } from './class-names.ts'
import css from './copy.module.css'
import { useClock } from './time.tsx'

const SHOWN_MS = 1_500
/** The number of characters of one line; longer commands are shown on several. */
const MAX_LINE_CHARS = 200

interface CopyProps {
  /** The text that goes to the clipboard. */
  readonly text: string
  /** The name of what is copied, for the tooltip and screen readers: `address`. */
  readonly what: string
  readonly mono?: boolean
  /** Long text on several lines instead of being cut. */
  readonly wrap?: boolean
  readonly autoFocus?: boolean
  /** A sign at the end that says what a click does. */
  readonly icon?: boolean
  /** The content that is seen; the text itself by default. */
  readonly children?: React.ReactNode
}

/** Text that copies itself on a click, and says so in place. */
export function Copy({
  text,
  what,
  mono = false,
  wrap = false,
  autoFocus = false,
  icon = false,
  children = wrap ? shownText(text) : beginning(text),
}: CopyProps) {
  const [outcome, setOutcome] = useState<'copied' | 'not copied'>()
  const clock = useClock()
  const copy = async () => {
    setOutcome((await writeClipboard(text)) ? 'copied' : 'not copied')
    clock.after(SHOWN_MS, () => setOutcome(undefined))
  }
  return (
    <button
      type="button"
      autoFocus={autoFocus}
      className={cx(css.copy, mono && css.mono, wrap && css.wrap)}
      title={`Copy ${what}`}
      aria-label={`Copy ${what} ${typeof children === 'string' ? children : beginning(text)}`}
      onClick={(event) => {
        event.stopPropagation()
        void copy()
      }}
    >
      <span className={css.text}>{children}</span>
      {icon && <CopyIcon aria-hidden="true" className={css.icon} />}
      <span className={css.outcome} role="status">
        {outcome}
      </span>
    </button>
  )
}

/** A command to paste into a terminal. */
export function Command({ text }: { text: string }) {
  return <Copy text={text} what="command" mono wrap icon />
}

/** The part of a text that fits on a line, as it is seen: the clipboard gets all of it. */
function beginning(text: string): string {
  return text.length > MAX_LINE_CHARS ? `${shownText(text.slice(0, MAX_LINE_CHARS))}…` : shownText(text)
}

/** Resolves with false where the page may not: the clipboard needs a secure origin, which a plain address in the LAN is not. */
export async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('aria-hidden', 'true')
  area.className = css.offscreen ?? ''
  document.body.append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
  }
}
