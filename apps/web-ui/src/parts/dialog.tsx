import { useLayoutEffect, useRef } from 'react'
import { printable } from '@mesh/core'
import { cx } from './class-names.ts'
import css from './dialog.module.css'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  /** It shows what cannot be shown again, or was typed: a press beside it does not close it. */
  readonly stays?: boolean
  /** `wide` has place for commands; `bare` is filled by what it shows, without a heading. */
  readonly look?: 'wide' | 'bare'
  readonly children: React.ReactNode
}

/**
 * A modal question or page of help; the browser keeps the focus inside and Escape closes it. The focus begins at what is
 * marked by `FOCUS_FIRST`, or at the first control, and goes back to where it was.
 */
export function Dialog({ title, onClose, stays = false, look, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // before the element is taken away: from one that is gone the focus does not go back
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // React's autoFocus comes too early: nothing can have the focus in a dialog that is not shown yet
    element?.querySelector<HTMLElement>('[data-focus-first]')?.focus()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      className={cx(css.dialog, look && css[look])}
      aria-label={printable(title)}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // not a click, which also ends the selecting of text that began inside
      onPointerDown={(event) => {
        if (!stays && event.target === dialog.current) onClose()
      }}
    >
      <div className={css.content}>
        {look !== 'bare' && <h2>{printable(title)}</h2>}
        {children}
      </div>
    </dialog>
  )
}

/** Props of the control at which a dialog's focus begins. */
export const FOCUS_FIRST = { 'data-focus-first': true } as const
