import { bytesInWords, rateInWords } from '../model/rate-words.ts'
import css from './rate.module.css'

/** How much flows: `84.2 Mbit/s`. */
export function Rate({ bytesPerSecond }: { bytesPerSecond: number }) {
  const { figure, unit } = rateInWords(bytesPerSecond)
  return (
    <span className={css.rate}>
      {figure} <span>{unit}</span>
    </span>
  )
}

/** How much flows in one direction now, and flowed since the start. */
export function Flow({ rate, total }: { rate: number; total: number }) {
  return (
    <span className={css.rate}>
      <Rate bytesPerSecond={rate} />
      <span>, {bytesInWords(total)} in all</span>
    </span>
  )
}
