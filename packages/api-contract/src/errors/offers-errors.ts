/** Lists what fails with services and files. */
import type { ErrorDescription } from './error-description.ts'

export const offersErrors = {
  'services.not_running': {
    status: 503,
    retryAfterSeconds: 2,
    title: 'The node has not joined its network yet',
    hint: 'Ask again in a few seconds; GET /api/health says what it waits for.',
    commandHint: 'Try again in a few seconds; `mesh status` says what it waits for.',
  },
  'services.unknown': {
    status: 404,
    title: 'This node has nothing of that name',
    hint: 'The same address without the name lists what there is.',
    commandHint: '`mesh services` lists what there is.',
  },
  'services.bad_name': {
    status: 400,
    title: 'This cannot be a name',
    hint: 'A name is text without control characters.',
  },
  'services.bad_address': {
    status: 400,
    title: 'The address cannot be used',
    hint: 'Use HOST:PORT, :PORT, udp:HOST:PORT or unix:PATH.',
  },
  'services.name_in_use': {
    status: 409,
    title: 'This node uses the name already',
    hint: 'Delete what has the name, or choose another.',
  },
  'services.too_many': {
    status: 409,
    title: 'This node holds as many as it takes',
    hint: 'Delete what is not needed any more.',
  },
  'services.cannot_listen': {
    status: 409,
    title: 'Nothing can listen at this address',
    hint: 'Choose another address, or end what uses it.',
  },
  'files.unreadable': {
    status: 400,
    title: 'The file or folder cannot be offered',
    hint: 'Give the path of a file or folder that the node may read, as the machine names it.',
  },
  'files.destination': {
    status: 400,
    title: 'That is no place to write to',
    hint: 'Give a whole path, from the root of the file system, to which the node may write.',
  },
  'files.too_large': {
    status: 413,
    title: 'The file is larger than this node takes over the API',
    hint: 'Copy it to the machine, and offer it by its path.',
  },
  'files.wrong_piece': {
    status: 409,
    title: 'The piece does not follow the one before',
    hint: 'Go on where the file ends here, which the issue names, or begin anew with from=0.',
  },
  'files.no_space': {
    status: 507,
    title: 'The file system of the node has no room for the file',
    hint: 'Free some space, or offer a file of another disk by its path.',
  },
  'files.not_told': {
    status: 503,
    title: 'Its member does not tell what is in it',
    hint: 'Check that the member is online; an EdgeVPN-compatible one tells nothing, and its file can be fetched all the same.',
  },
  'files.too_many': {
    status: 409,
    title: 'That is more than this node can offer',
    hint: 'Offer fewer names, or folders with fewer files.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>
