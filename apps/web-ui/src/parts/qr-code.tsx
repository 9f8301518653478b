import { create } from 'qrcode'
import { useMemo } from 'react'
import css from './qr-code.module.css'

/** The quiet border around a code that scanners need, in modules. */
const BORDER = 4

/** A text as a code that phones scan: dark on light in any theme. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { path, size } = useMemo(() => outlineOf(text), [text])
  return (
    <svg
      className={css.code}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function outlineOf(text: string): { readonly path: string; readonly size: number } {
  const { modules } = create(text, { errorCorrectionLevel: 'M' })
  const dark = [...modules.data.keys()].filter((at) => modules.data[at] === 1)
  const squares = dark.map((at) => {
    const [x, y] = [(at % modules.size) + BORDER, Math.floor(at / modules.size) + BORDER]
    return `M${x} ${y}h1v1h-1z`
  })
  return { path: squares.join(''), size: modules.size + 2 * BORDER }
}
