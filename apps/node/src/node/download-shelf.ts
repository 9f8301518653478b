/** Shows downloads to the API. */
import { isAbsolute, normalize } from 'node:path'
import type { FetchedFile, OfferShelf } from '@mesh/api-server'
import { MeshError } from '@mesh/core'
import type { Download, Downloads } from '@mesh/services'

export function createDownloadShelf(downloads: Downloads): OfferShelf<FetchedFile> {
  return {
    list: () =>
      downloads
        .list()
        .map(fetchedFile)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    async put(name, path) {
      if (!isAbsolute(path)) {
        throw new MeshError('files.destination', `${JSON.stringify(path)} is no absolute path`, {
          hint: 'Give the whole path, from the root of the file system.',
        })
      }
      // a slash at the end is kept: it says that this is a folder
      await downloads.start(name, normalize(path))
    },
    remove: (name) => downloads.remove(name),
  }
}

const NOTHING = {
  provider: undefined,
  way: undefined,
  fileCount: undefined,
  bytes: 0,
  totalBytes: undefined,
  rate: 0,
  leftMs: undefined,
  isVerified: undefined,
  failure: undefined,
} as const

function fetchedFile({ name, destination, state }: Download): FetchedFile {
  const base = { ...NOTHING, name, path: destination, state: state.type } as const
  switch (state.type) {
    case 'waiting':
      return base
    case 'connecting':
      return { ...base, provider: state.provider }
    case 'receiving': {
      const { path: way, type, ...progress } = state
      return { ...base, ...progress, way, state: type }
    }
    case 'retrying':
      return { ...base, failure: { code: 'files.broken_off', message: state.reason, hint: undefined } }
    case 'received': {
      const { path, provider, bytes, isVerified } = state
      return { ...base, path, provider, bytes, totalBytes: bytes, isVerified }
    }
    case 'failed':
      return { ...base, failure: failureOf(state.error) }
  }
}

function failureOf(error: Error): NonNullable<FetchedFile['failure']> {
  const { message } = error
  if (!(error instanceof MeshError)) return { code: 'node.unexpected', message, hint: undefined }
  return { code: error.code, message, hint: error.hint }
}
