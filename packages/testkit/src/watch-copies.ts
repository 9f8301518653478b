/** The copies that `Buffer.concat` has made while it is watched. */
export interface WatchedCopies extends Disposable {
  /** The bytes of all of them. */
  readonly bytes: number
}

/** Watches until it is disposed of; for tests of what comes byte by byte, one at a time. */
export function watchCopies(): WatchedCopies {
  const { concat } = Buffer
  let bytes = 0
  Buffer.concat = (...args) => {
    const whole = concat(...args)
    bytes += whole.byteLength
    return whole
  }
  return {
    get bytes() {
      return bytes
    },
    [Symbol.dispose]() {
      Buffer.concat = concat
    },
  }
}
