import { type Progress, progressInWords } from '../../model/offer-progress.ts'
import { Rate } from '../../parts/rate.tsx'
import css from './offers.module.css'

interface TransferProgressProps {
  /** The bar's name, for screen readers. */
  readonly label: string
  readonly progress: Progress
  readonly way: { readonly Path: string | null; readonly Transport: string | null }
}

/** How far a transfer is: a bar, and below it how much, over which path, how fast and how long yet. */
export function TransferProgress({ label, progress, way }: TransferProgressProps) {
  const { percent, bytes, left } = progressInWords(progress)
  const parts = [percent === undefined ? null : `${percent} %`, bytes, way.Path, way.Transport]
  return (
    <>
      {progress.TotalBytes !== null && (
        <progress value={progress.Bytes} max={Math.max(1, progress.TotalBytes)} aria-label={label} />
      )}
      <span className={css.hint}>
        {parts.filter((part) => part !== null).join(', ')}, <Rate bytesPerSecond={progress.Rate} />
        {left !== undefined && `, ${left} left`}
      </span>
    </>
  )
}
