/** Tells a scope how many bytes wait in one place, such as a stream that nobody reads. */
import { type Claim, type Place, type Scope } from '@mesh/core/limits'

interface WaitingBytesInit extends Pick<Claim, 'peer' | 'address' | 'isUnproven'> {
  readonly scope: Scope
  /** Ends the place: too many bytes wait in all, and it has the most. */
  readonly end: (reason: Error) => void
}

export class WaitingBytes {
  readonly #init: WaitingBytesInit
  #place: Place | undefined

  constructor(init: WaitingBytesInit) {
    this.#init = init
  }

  set(bytes: number): void {
    if (bytes === (this.#place?.size ?? 0)) return
    if (bytes === 0) {
      this.#place?.release()
      this.#place = undefined
    } else if (this.#place !== undefined) {
      if (!this.#place.resize(bytes)) this.#end()
    } else {
      const { scope, end: _end, ...claim } = this.#init
      this.#place = scope.reserve({ ...claim, size: bytes, end: () => this.#end() })
      if (this.#place === undefined) this.#end()
    }
  }

  #end(): void {
    this.#place = undefined
    this.#init.end(new Error('too much waits to be read'))
  }
}
