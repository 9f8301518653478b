/** Builds profiles in pprof's form (https://github.com/google/pprof/tree/main/proto) from stacks of V8. */
import { gzipSync } from 'node:zlib'
import { Profile, type ProfileInput, StringTable } from 'pprof-format'

/** One frame as the inspector tells it; lines and columns count from 0, -1 where there are none. */
export interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
  readonly columnNumber: number
}

/** A sample type with its unit, `cpu` in `nanoseconds`. */
type ValueKind = readonly [type: string, unit: string]

export interface PprofInit {
  readonly sampleTypes: readonly ValueKind[]
  readonly periodType: ValueKind
  /** The distance between two samples, in the unit of `periodType`. */
  readonly period: number
  /** The name of the sample type that is shown unless another is asked for. */
  readonly shown: string
  /** The end of the profile, in unix ms. */
  readonly takenAt: number
  /** The time over which it was taken, in ms. */
  readonly durationMs: number
}

export class PprofBuilder {
  readonly #init: PprofInit
  readonly #strings = new StringTable()
  readonly #ids = new Map<string, number>()
  readonly #locations: NonNullable<ProfileInput['location']> = []
  readonly #functions: NonNullable<ProfileInput['function']> = []
  readonly #samples: NonNullable<ProfileInput['sample']> = []

  constructor(init: PprofInit) {
    this.#init = init
  }

  /** Gives the id of a frame's location, which samples name it by. */
  locationOf(frame: Frame): number {
    const { functionName, url, lineNumber, columnNumber } = frame
    const key = `${functionName}\0${url}\0${lineNumber}\0${columnNumber}`
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = this.#ids.size + 1
    this.#ids.set(key, id)
    const line = Math.max(0, lineNumber + 1)
    const name = this.#strings.dedup(functionName === '' ? '(anonymous)' : functionName)
    this.#functions.push({
      id,
      name,
      systemName: name,
      filename: this.#strings.dedup(url),
      startLine: line,
    })
    this.#locations.push({ id, mappingId: 1, line: [{ functionId: id, line }] })
    return id
  }

  /** @param stack ids of locations, the innermost first */
  add(stack: readonly number[], values: readonly number[]): void {
    this.#samples.push({ locationId: [...stack], value: [...values] })
  }

  /** Encodes the profile, compressed by gzip as readers of pprof expect it. */
  encode(): Uint8Array {
    const { sampleTypes, periodType, period, shown, takenAt, durationMs } = this.#init
    const kind = ([type, unit]: ValueKind) => ({
      type: this.#strings.dedup(type),
      unit: this.#strings.dedup(unit),
    })
    const profile = new Profile({
      sampleType: sampleTypes.map(kind),
      sample: this.#samples,
      // readers look for symbols elsewhere unless a mapping says that they are here
      mapping: [
        {
          id: 1,
          filename: this.#strings.dedup('mesh'),
          hasFunctions: true,
          hasFilenames: true,
          hasLineNumbers: true,
          hasInlineFrames: true,
        },
      ],
      location: this.#locations,
      function: this.#functions,
      stringTable: this.#strings,
      timeNanos: BigInt(Math.round(takenAt - durationMs)) * 1_000_000n,
      durationNanos: Math.round(durationMs * 1e6),
      periodType: kind(periodType),
      period,
      defaultSampleType: this.#strings.dedup(shown),
    })
    return gzipSync(profile.encode())
  }
}
