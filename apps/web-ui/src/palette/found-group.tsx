import { Command } from 'cmdk'
import { rank } from '../model/palette-rank.ts'
import { Glyph } from '../parts/glyph.tsx'
import type { FoundItem } from './found-item.ts'
import css from './palette.module.css'

/** How many of a group are shown: of one that is searched, and of one that can be read through. */
const MOST_FOUND = 6
const MOST_UNASKED = 20

interface FoundGroupProps {
  readonly title: string
  readonly items: readonly FoundItem[]
  readonly query: string
  /** Called before an item runs that ends the search. */
  readonly onClose: () => void
}

/** What fits of one kind, the best first. */
export function FoundGroup({ title, items, query, onClose }: FoundGroupProps) {
  const found = rank(items, query, query === '' ? MOST_UNASKED : MOST_FOUND)
  if (found.length === 0) return null
  return (
    <Command.Group heading={title} className={css.group}>
      {found.map(({ id, label, detail, peer, run, stays }) => (
        <Command.Item
          key={id}
          value={`${title} ${id}`}
          className={css.item}
          onSelect={() => {
            if (stays !== true) onClose()
            run()
          }}
        >
          {peer !== undefined && <Glyph id={peer} />}
          <span className={css.label}>{label}</span>
          {detail !== undefined && <span className={css.detail}>{detail}</span>}
        </Command.Item>
      ))}
    </Command.Group>
  )
}
