import { bytesInWords } from './rate-words.ts'
import { spanInWords } from './time-words.ts'

interface ProgressInWords {
  /** Undefined while the size is not known. */
  readonly percent: number | undefined
  /** Prints how far a transfer is: `12 MB of 40 MB`. */
  readonly bytes: string
  /** `2 min`; undefined while nothing flows. */
  readonly left: string | undefined
}

/** Says how far a transfer is; the API has these fields for those that this node sends and for those it fetches. */
export interface Progress {
  readonly Bytes: number
  readonly TotalBytes: number | null
  /** The speed, in bytes per second. */
  readonly Rate: number
}

export function progressInWords({ Bytes, TotalBytes, Rate }: Progress): ProgressInWords {
  if (TotalBytes === null) return { percent: undefined, bytes: bytesInWords(Bytes), left: undefined }
  return {
    percent: TotalBytes === 0 ? 100 : Math.floor((Bytes / TotalBytes) * 100),
    bytes: `${bytesInWords(Bytes)} of ${bytesInWords(TotalBytes)}`,
    left: Rate > 0 ? spanInWords(((TotalBytes - Bytes) / Rate) * 1_000) : undefined,
  }
}
