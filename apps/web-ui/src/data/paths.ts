import type { PathReportView } from '@mesh/api-contract'
import { useRead } from './reads.ts'

/** Members are asked at most once in 30 s; their answers come in between. */
const PATHS_EVERY_MS = 10_000
/** Answers that are on their way. */
const ASKED_EVERY_MS = 2_000
/** The answer of many members is long, and is asked for less often. */
const MANY_MEMBERS = 200
const MANY_PATHS_EVERY_MS = 30_000
const NONE: readonly PathReportView[] = []

/** How members say that they reach each other; none where the node does not tell. @returns readAt in Unix ms */
export function usePaths(): { readonly reports: readonly PathReportView[]; readonly readAt: number } {
  const { data = NONE, dataUpdatedAt } = useRead('listPaths', {}, { everyMs: pathsEvery })
  return { reports: data, readAt: dataUpdatedAt }
}

function pathsEvery(known: readonly PathReportView[] = NONE): number {
  if (known.length > MANY_MEMBERS) return MANY_PATHS_EVERY_MS
  return known.some(({ State }) => State === 'asked') ? ASKED_EVERY_MS : PATHS_EVERY_MS
}
