import type { SettingView } from '@mesh/api-contract'
import { useSearch } from '@tanstack/react-router'
import { useRead } from '../../data/reads.ts'
import { shownText } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Unread } from '../../parts/notes.tsx'
import { Tag } from '../../parts/tag.tsx'
import page from '../page.module.css'
import css from './settings.module.css'

/** All settings of the node by group, with the place where each value came from. */
export function InForce() {
  const { q = '' } = useSearch({ from: '/settings' })
  const read = useRead('listSettings', {})
  const wanted = q.trim().toLowerCase()
  const shown = read.data?.filter(({ Name, Summary, Value }) =>
    [Name, Summary, Value].some((text) => text.toLowerCase().includes(wanted)),
  )
  const groups = Map.groupBy(shown ?? [], ({ Group }) => Group)
  return (
    <div className={css.groups}>
      <p className={page.sub}>
        Settings are read when the node starts. Flags come before variables, and variables before the file.
      </p>
      <Unread what="the settings" read={read} />
      {shown?.length === 0 && <p className={page.sub}>No setting fits the filter.</p>}
      {[...groups].map(([group, settings]) => (
        <section key={group} className={page.section}>
          <h2>
            {shownText(group)} <span>{settings.length}</span>
          </h2>
          <dl className={css.settings}>
            {settings.map((setting) => (
              <Setting key={setting.Name} setting={setting} />
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}

function Setting({ setting: { Name, Summary, Value, Source, Place } }: { setting: SettingView }) {
  return (
    <div className={css.setting}>
      <dt>
        <code>{Name}</code>
        <p>{shownText(Summary.replaceAll('`', ''))}</p>
      </dt>
      <dd>
        {Value === '' ? (
          <span className={css.unset}>not set</span>
        ) : (
          <Copy text={Value} what={`value of ${Name}`} mono wrap />
        )}
      </dd>
      <dd className={css.source}>
        <Tag tone={Source === 'default' ? 'plain' : 'ledger'}>{Source}</Tag>
        {Place !== '' && <code>{shownText(Place)}</code>}
      </dd>
    </div>
  )
}
