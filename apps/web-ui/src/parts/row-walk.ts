import { useRef } from 'react'
import { useShortcut } from './keyboard.tsx'

/** `j` and `k` walk along the links of all rows inside of the element. */
export function useRowWalk(): React.RefObject<HTMLElement | null> {
  const container = useRef<HTMLElement>(null)
  const move = (step: 1 | -1) => {
    const links = [...(container.current?.querySelectorAll<HTMLElement>('[data-row] a') ?? [])]
    const focused = links.findIndex((link) => link === document.activeElement)
    const from = focused < 0 && step === -1 ? links.length : focused
    links[Math.min(links.length - 1, Math.max(0, from + step))]?.focus()
  }
  useShortcut('j', () => move(1))
  useShortcut('k', () => move(-1))
  return container
}
