/**
 * How many lines of the other side are answered while both agree on a protocol. @libp2p/multistream-select 7.0.28 answers
 * each line that asks for the list of protocols, or for one that there is not, for the ten seconds that a negotiation may
 * take: 64 KiB of such lines take a node more than a second, before a connection's handshake as well as on each stream.
 * Report to send: 'a negotiation may ask any number of times'.
 *
 * Reaches into `send` of connections and streams; where it is missing nothing is bounded. Without it
 * `negotiation-answers.test.ts` fails; `npm run attack -- negotiations` asks so often.
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
