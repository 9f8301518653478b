/** Randomness as an argument. */
export interface Random {
  /** Cryptographically strong outside tests. */
  bytes(length: number): Uint8Array
  /** Uniform in [0, 1). */
  float(): number
}

export const systemRandom: Random = {
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  float: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
}
