import { Link } from '@tanstack/react-router'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { ForgetToken } from '../../frame/rail-facts.tsx'
import { useSections } from '../../frame/sections.ts'
import { Copy } from '../../parts/copy.tsx'
import { Facts } from '../../parts/panel.tsx'
import page from '../page.module.css'
import css from './more-page.module.css'

/** Shows on a phone the sections that have no room in the bar, and who serves this page. */
export function MorePage() {
  const { machines } = useMachines()
  const sections = useSections()
  const version = useRead('getVersion', {})
  const self = machines?.find(({ reach }) => reach.kind === 'self')
  return (
    <div className={page.page}>
      <h1 className={css.title}>More</h1>
      <nav aria-label="More sections">
        {sections
          .filter(({ inBar }) => !inBar)
          .map(({ path, title, icon: Icon }) => (
            <Link key={path} to={path} className={css.item}>
              <Icon aria-hidden="true" />
              {title}
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
