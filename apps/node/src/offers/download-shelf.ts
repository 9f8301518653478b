/** Shows downloads to the API. */
import { isAbsolute, normalize } from 'node:path'
import type { NodeDownloadView } from '@mesh/api-contract'
import type { OfferShelf } from '@mesh/api-server'
import { MeshError } from '@mesh/core'
import type { Download, Downloads } from '@mesh/services'
import { receivingView } from './receiving-view.ts'

export function createDownloadShelf(downloads: Downloads): OfferShelf<NodeDownloadView> {
  return {
    list: () =>
      downloads
        .list()
        .map(downloadView)
        .toSorted((a, b) => (a.Name < b.Name ? -1 : 1)),
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
  Path: null,
  Transport: null,
  Rate: 0,
  LeftMs: null,
  LeftOut: null,
  LeftOutNames: [],
  WrittenTo: null,
  Verified: null,
  LastError: null,
  ErrorCode: null,
  Hint: null,
}

function downloadView({ name, destination, state, progress }: Download): NodeDownloadView {
  const base = {
    Name: name,
    Destination: destination,
    State: state.type,
    ...NOTHING,
    // what of the last progress still holds where nothing flows
    Provider: progress?.provider ?? null,
    Files: progress?.fileCount ?? null,
    Bytes: progress?.bytes ?? 0,
    TotalBytes: progress?.totalBytes ?? null,
  }
  switch (state.type) {
    case 'waiting':
      return { ...base, Provider: null }
    case 'connecting':
      return { ...base, Provider: state.provider }
    case 'receiving':
      return { ...base, ...receivingView(state) }
    case 'retrying':
      return { ...base, LastError: state.reason }
    case 'received':
      return {
        ...base,
        Provider: state.provider,
        Bytes: state.bytes,
        TotalBytes: state.bytes,
        WrittenTo: state.path,
        Verified: state.isVerified,
        LeftOut: state.leftOut.count,
        LeftOutNames: [...state.leftOut.names],
      }
    case 'failed': {
      const { code, hint } =
        state.error instanceof MeshError ? state.error : { code: 'node.unexpected', hint: undefined }
      return { ...base, LastError: state.error.message, ErrorCode: code, Hint: hint ?? null }
    }
  }
}
