import type { Stream } from '@libp2p/interface'
import { type Clock, delay } from '@mesh/core'
import { CHANNEL_CLOSE_MS } from '../limits.ts'
import { ACCEPTED_CLOSE_DELAY_MS } from './limits.ts'

/**
 * Sends what waits, then tells the other side that no more comes; what it sends may still be read. Resets the stream
 * when the other side takes nothing for too long. Never rejects: a stream that broke is closed too.
 *
 * @param heard something came from the other side, so it is done with negotiating the protocol
 * @param isPatient the other side may take all the time that it likes
 */
export async function closeWriting(
  stream: Stream,
  {
    clock,
    heard,
    isPatient = false,
  }: { readonly clock: Clock; readonly heard: boolean; readonly isPatient?: boolean },
): Promise<void> {
  const isNegotiated = heard || stream.readBufferLength > 0 || stream.remoteWriteStatus !== 'writable'
  // libp2p fails to open a stream whose other end is closed before the answer to the protocol's name was read
  if (!isNegotiated && stream.direction === 'inbound') await delay(clock, ACCEPTED_CLOSE_DELAY_MS)
  const abort = () => stream.abort(new Error('the peer takes nothing'))
  const cancel = isPatient ? () => {} : clock.after(CHANNEL_CLOSE_MS, abort)
  try {
    await stream.close()
  } catch {
    // broken
  }
  cancel()
}
