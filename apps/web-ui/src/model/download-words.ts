/** States of what this node fetches of members, in words for people. */
import type { NodeDownloadView } from '@mesh/api-contract'
import type { StateInWords } from './state-tone.ts'
import { countInWords } from './rate-words.ts'

/** True until it stands on the disk or failed. */
export function isUnderWay({ State }: Pick<NodeDownloadView, 'State'>): boolean {
  return State !== 'received' && State !== 'failed'
}

export function downloadState(
  { State, Provider, Path, Verified, LeftOut, LeftOutNames }: NodeDownloadView,
  name: (id: string) => string,
): StateInWords {
  const sender = Provider === null ? undefined : name(Provider)
  const from = sender === undefined ? undefined : `from ${sender}`
  switch (State) {
    case 'waiting':
      return {
        tone: 'offline',
        word: 'waiting',
        detail: 'for a sender',
        sentence: 'No member that is online offers it now. It begins as soon as one does.',
      }
    case 'connecting':
      return {
        tone: 'announcing',
        word: 'connecting',
        detail: sender === undefined ? undefined : `to ${sender}`,
        sentence: 'A way to the sender is being made.',
      }
    case 'receiving':
      return {
        tone: Path === 'relayed' ? 'relayed' : 'direct',
        word: 'receiving',
        detail: from,
        sentence: 'It gets its name when all of it has come and every hash is right.',
      }
    case 'retrying':
      return {
        tone: 'warning',
        word: 'broken off',
        sentence: 'The node goes on by itself in a moment, from where it stopped.',
      }
    case 'received':
      return {
        tone: 'committed',
        word: 'received',
        detail: LeftOut ? `without ${countInWords(LeftOut)}` : from,
        sentence: LeftOut
          ? `Not all of it is here: ${countInWords(LeftOut)} left out, ${LeftOutNames.join('; ')}.`
          : Verified === false
            ? 'It is complete as far as its sender says: an EdgeVPN-compatible member tells no hash.'
            : 'It is complete, and every hash is right.',
      }
    case 'failed':
      return {
        tone: 'refused',
        word: 'failed',
        detail: from,
        sentence: 'The node does not try again by itself. What has come is kept.',
      }
  }
}
