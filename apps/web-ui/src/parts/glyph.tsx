import { useMemo } from 'react'
import { buildGlyph } from '../model/glyph.ts'
import { cx } from './class-names.ts'
import css from './glyph.module.css'

/** A peer's mark, computed from its id. Decoration: the name stands beside it. */
export function Glyph({ id, large = false }: { id: string; large?: boolean }) {
  const glyph = useMemo(() => buildGlyph(id), [id])
  return (
    <svg
      className={cx(css.glyph, large && css.large)}
      viewBox="-1 -1 7 7"
      aria-hidden="true"
      style={{ '--hue': glyph.hue } as React.CSSProperties}
    >
      <path d={glyph.path} />
    </svg>
  )
}
