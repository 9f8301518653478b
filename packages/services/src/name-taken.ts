import { shortPeerId, tryParsePeerId } from '@mesh/core'
import type { ServicesProblem } from './services/status.ts'

/** @param what `The service web` */
export function nameTaken(what: string, owner: string | undefined): ServicesProblem {
  const peer = tryParsePeerId(owner ?? '')
  return {
    code: 'services.name_taken',
    severity: 'warning',
    title: `${what} belongs to ${peer === undefined ? 'another member' : shortPeerId(peer)}`,
    hint: 'Give this one another name, or withdraw it there; it is taken over when that member is gone.',
  }
}
