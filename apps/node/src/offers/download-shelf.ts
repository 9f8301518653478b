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
  path: undefined,
  transport: undefined,
  fileCount: undefined,
  bytes: 0,
  totalBytes: undefined,
  rate: 0,
  leftMs: undefined,
  writtenTo: undefined,
  isVerified: undefined,
  leftOut: undefined,
  lastError: undefined,
  errorCode: undefined,
  hint: undefined,
} as const

function fetchedFile({ name, destination, state, progress }: Download): FetchedFile {
  const base = { ...NOTHING, ...standOf(progress), name, destination, state: state.type } as const
  switch (state.type) {
    case 'waiting':
      return { ...base, provider: undefined }
    case 'connecting':
      return { ...base, provider: state.provider }
    case 'receiving': {
      const { type, ...current } = state
      return { ...base, ...current, state: type }
    }
    case 'retrying':
      return { ...base, lastError: state.reason }
    case 'received': {
      const { path, provider, bytes, isVerified, leftOut } = state
      return { ...base, provider, bytes, totalBytes: bytes, writtenTo: path, isVerified, leftOut }
    }
    case 'failed':
      return { ...base, lastError: state.error.message, ...reasonOf(state.error) }
  }
}

/** Picks what of the last progress still holds where nothing flows. */
function standOf(progress: Download['progress']): Partial<FetchedFile> {
  if (progress === undefined) return {}
  const { provider, fileCount, bytes, totalBytes } = progress
  return { provider, fileCount, bytes, totalBytes }
}

function reasonOf(error: Error): Pick<FetchedFile, 'errorCode' | 'hint'> {
  if (!(error instanceof MeshError)) return { errorCode: 'node.unexpected', hint: undefined }
  return { errorCode: error.code, hint: error.hint }
}
