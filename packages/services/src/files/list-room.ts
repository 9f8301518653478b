/** The memory that the lists of all downloads may take together, so that no number of senders fills it. */
import { filesError } from './errors.ts'
import { PACKED_ENTRY_BYTES, MAX_LIST_BYTES } from './limits.ts'

/** The part of it that one download has. */
export interface ListShare {
  /**
   * Takes room for an entry whose path has so many bytes.
   * @throws MeshError `files.busy` when other lists have it all
   */
  take(pathBytes: number): void
  release(): void
}

export interface ListRoom {
  share(): ListShare
}

export function createListRoom(): ListRoom {
  let taken = 0
  return {
    share() {
      let own = 0
      return {
        take(pathBytes) {
          const bytes = pathBytes + PACKED_ENTRY_BYTES
          if (taken + bytes > MAX_LIST_BYTES) {
            throw filesError('files.busy', 'the lists of other downloads take all the room that lists have')
          }
          taken += bytes
          own += bytes
        },
        release() {
          taken -= own
          own = 0
        },
      }
    },
  }
}
