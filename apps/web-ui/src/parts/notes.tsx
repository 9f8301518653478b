import { ApiError } from '@mesh/api-client'
import { MeshError, printable } from '@mesh/core'
import { Button } from './button.tsx'
import { Copy } from './copy.tsx'
import { EmptyPicture, type EmptyPictureName } from './empty-picture.tsx'
import css from './notes.module.css'
import { shownText } from '../model/shown-name.ts'
import { StateShape } from './state-mark.tsx'

interface EmptyNoteProps {
  readonly title: string
  readonly picture?: EmptyPictureName
  readonly children?: React.ReactNode
}

/** Where there is nothing yet: says what would stand here and how it gets there. */
export function EmptyNote({ title, picture, children }: EmptyNoteProps) {
  return (
    <div className={css.note}>
      {picture !== undefined && <EmptyPicture of={picture} />}
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface ErrorNoteProps {
  /** The words for what could not be done: `The machines could not be read`. */
  readonly title: string
  readonly error: unknown
  readonly retry?: (() => void) | undefined
}

/** Says what went wrong, the node's own words for it, and what to do next. */
export function ErrorNote({ title, error, retry }: ErrorNoteProps) {
  return (
    <div className={css.error} role="alert">
      <StateShape tone="refused" />
      <div>
        <h2>{printable(title)}</h2>
        <p>{shownText(error instanceof Error ? error.message : String(error))}</p>
        {error instanceof MeshError && (
          <>
            {error.issues.map(({ field, value, expected }) => (
              <p key={field}>
                <code>{field}</code>
                {value === undefined ? '' : ` is ${value}`}, expected: {expected}
              </p>
            ))}
            {error.hint !== undefined && <p className={css.hint}>{error.hint}</p>}
            {error instanceof ApiError && error.requestId !== undefined && (
              <p>
                <code>{error.code}</code>, request <Copy text={error.requestId} what="request id" mono />
              </p>
            )}
          </>
        )}
        {retry !== undefined && <Button onClick={retry}>Try again</Button>}
      </div>
    </div>
  )
}

/** A part of what the page reads from the node. */
export interface Read {
  readonly data: unknown
  readonly error: Error | null
  refetch(): unknown
}

/** Stands where nothing was read yet: rows that load, or why it could not be read. @param what `the machines` */
export function Unread({ what, read: { data, error, refetch } }: { what: string; read: Read }) {
  if (data !== undefined) return null
  if (error === null) return <LoadingRows label={`Reading ${what}`} />
  const title = `${what.charAt(0).toUpperCase()}${what.slice(1)} could not be read`
  return <ErrorNote title={title} error={error} retry={() => void refetch()} />
}

/** Stands for rows that were never read yet; what was read once is never replaced by this. */
export function LoadingRows({ label }: { label: string }) {
  return (
    <div className={css.loading} role="status" aria-label={label}>
      {['92%', '64%', '78%', '56%', '70%'].map((width) => (
        <i key={width} style={{ width }} />
      ))}
    </div>
  )
}

/** Why a write did not happen; without an answer of the node it may have happened all the same. */
export function WriteErrorNote({ error }: { error: Error | null }) {
  if (error === null) return null
  const answered = error instanceof ApiError && error.status > 0
  const title = answered
    ? 'The node did not take the write'
    : 'The node did not answer; what you typed is kept here'
  return <ErrorNote title={title} error={error} />
}
