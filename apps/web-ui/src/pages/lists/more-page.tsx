import { Link } from '@tanstack/react-router'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { ForgetToken } from '../../frame/rail-facts.tsx'
import { SECTIONS } from '../../frame/sections.ts'
import { Copy } from '../../parts/copy.tsx'
import { Facts } from '../../parts/panel.tsx'
import { words } from '../../words/en.ts'
import page from '../page.module.css'
import css from './more-page.module.css'

/** Shows on a phone the sections that have no room in the bar, and who serves this page. */
export function MorePage() {
  const { machines } = useMachines()
  const version = useRead('getVersion', {})
  const self = machines?.find(({ reach }) => reach.kind === 'self')
  return (
    <div className={page.page}>
      <h1 className={css.title}>{words.frame.more}</h1>
      <nav aria-label="More sections">
        {SECTIONS.filter(({ inBar }) => inBar !== true).map((section) => (
          <Link key={section.path} to={section.path} className={css.item}>
            <section.icon aria-hidden="true" />
            {words.sections[section.path]}
          </Link>
        ))}
      </nav>
      <Facts
        facts={[
          ['This node', self?.name ?? '…'],
          ['Id', self === undefined ? '…' : <Copy key="id" text={self.id} what="id" mono wrap />],
          ['Version', version.data?.Version ?? '…'],
        ]}
      />
      <ForgetToken />
    </div>
  )
}
