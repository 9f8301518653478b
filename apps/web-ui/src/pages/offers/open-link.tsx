import { ExternalLink } from 'lucide-react'
import { openUrl } from '../../model/open-url.ts'
import { buttonLink } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import css from './offers.module.css'

/** Opens the address of a connection in a new tab, where a browser can. */
export function OpenLink({ name, listen }: { name: string; listen: string }) {
  const url = openUrl(listen)
  if (url === undefined) return null
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" className={cx(buttonLink, css.openLink)}>
      <ExternalLink aria-hidden="true" />
      Open<span className={css.unseen}> {name} in a new tab</span>
    </a>
  )
}
