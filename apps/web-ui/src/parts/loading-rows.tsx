import css from './notes.module.css'

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
