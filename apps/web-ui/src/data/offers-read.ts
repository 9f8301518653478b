import { ApiError } from '@mesh/api-client'
import type { NodeConnectionView, NodeDownloadView, NodeFileView, NodeServiceView } from '@mesh/api-contract'
import { type UseQueryResult } from '@tanstack/react-query'
import { isUnderWay } from '../model/download-words.ts'
import { useRead } from './reads.ts'

/** Counters and progress come with no event. */
const COUNTERS_EVERY_MS = 3_000

/** A person watches the bar of a download. */
const DOWNLOADING_EVERY_MS = 1_000

const JOINING_EVERY_MS = 2_000

export interface OffersRead<View> {
  /** Undefined until they were read once. */
  readonly data: readonly View[] | undefined
  /** `remote`: the node tells them only to its own machine. `joining`: it has not joined its network yet. */
  readonly obstacle: 'remote' | 'joining' | undefined
  /** Why they could not be read, where they never were and no obstacle says it. */
  readonly error: Error | null
  refetch(): unknown
}

export function useNodeServices(): OffersRead<NodeServiceView> {
  return offersRead(useRead('listNodeServices', {}, { everyMs: pollInterval }))
}

export function useNodeConnections(): OffersRead<NodeConnectionView> {
  return offersRead(useRead('listNodeConnections', {}, { everyMs: pollInterval }))
}

export function useNodeFiles(): OffersRead<NodeFileView> {
  return offersRead(useRead('listNodeFiles', {}, { everyMs: pollInterval }))
}

/** Reads what this node fetches of members for programs of its machine, and how the last ended. */
export function useNodeDownloads(): OffersRead<NodeDownloadView> {
  return offersRead(useRead('listNodeDownloads', {}, { everyMs: downloadsInterval }))
}

function downloadsInterval(
  known: readonly NodeDownloadView[] | undefined,
  error: Error | null,
): number | false {
  const isRunning = error === null && known?.some(isUnderWay) === true
  return isRunning ? DOWNLOADING_EVERY_MS : pollInterval(known, error)
}

function offersRead<View>({ data, error, refetch }: UseQueryResult<readonly View[]>): OffersRead<View> {
  const obstacle = data === undefined ? obstacleOf(error) : undefined
  return { data, obstacle, error: data === undefined && obstacle === undefined ? error : null, refetch }
}

function obstacleOf(error: Error | null): OffersRead<unknown>['obstacle'] {
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'node.local_only') return 'remote'
  return error.code === 'services.not_running' ? 'joining' : undefined
}

function pollInterval(_known: unknown, error: Error | null): number | false {
  switch (obstacleOf(error)) {
    case 'remote':
      return false
    case 'joining':
      return JOINING_EVERY_MS
    case undefined:
      return COUNTERS_EVERY_MS
  }
}
