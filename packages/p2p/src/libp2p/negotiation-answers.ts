/**
 * Bounds the answers of this end while both ends agree on a protocol. @libp2p/multistream-select 7.0.28 answers each line for
 * ten seconds, however many come. `npm run attack -- negotiations` asks so often.
 */
import { MAX_NEGOTIATION_ANSWERS } from '../limits.ts'

interface Negotiating {
  send(bytes: never): boolean
  abort(error: Error): void
}

/** Ends a side that needs too many answers before `isAgreed`. Call it before the negotiation begins. */
export function boundAnswers(side: Negotiating, isAgreed: () => boolean): void {
  const send = side.send.bind(side)
  let answers = 0
  side.send = (bytes) => {
    if (isAgreed()) {
      side.send = send
      return send(bytes)
    }
    if (++answers > MAX_NEGOTIATION_ANSWERS) {
      const error = new Error('too long a negotiation')
      side.abort(error)
      throw error
    }
    return send(bytes)
  }
}
