import { useMachines } from '../data/machines.tsx'
import { useRead } from '../data/reads.ts'
import { useSession } from '../data/session-context.tsx'
import { countInWords } from '../model/rate-words.ts'
import { words } from '../words/en.ts'
import css from './frame.module.css'
import type { Section } from './sections.ts'

/** How much a section holds; nothing until it is known. */
export function RailCount({ path }: { path: Section['path'] }) {
  const count = useCount(path)
  if (count === undefined) return null
  return <span className={css.count}>{countInWords(count)}</span>
}

/** Who serves this page. */
export function RailFoot() {
  const { machines } = useMachines()
  const version = useRead('getVersion', {})
  const self = machines?.find(({ reach }) => reach.kind === 'self')
  return (
    <div className={css.foot}>
      <p title={self?.id}>
        this node: <b>{self?.name ?? '…'}</b>
      </p>
      {version.data !== undefined && <p>mesh {version.data.Version}</p>}
      <ForgetToken />
    </div>
  )
}

/** Where a token is in use: ends that, for this tab. */
export function ForgetToken() {
  const session = useSession()
  if (session?.token() === undefined) return null
  return (
    <button type="button" className={css.forget} onClick={() => session.forget()}>
      {words.frame.forgetToken}
    </button>
  )
}

function useCount(path: Section['path']): number | undefined {
  const { machines } = useMachines()
  const summary = useRead('getSummary', {})
  const names = useRead('listDns', {}, { enabled: path === '/names' })
  const digest = useRead('getDigest', {}, { enabled: path === '/ledger' })
  const counts: Partial<Record<Section['path'], number | undefined>> = {
    '/machines': machines?.length,
    '/names': names.data?.length,
    '/services': summary.data?.Services,
    '/files': summary.data?.Files,
    '/ledger': digest.data?.Entries,
  }
  return counts[path]
}
