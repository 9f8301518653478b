import { Keyboard, MonitorCog, Moon, Search, Sun } from 'lucide-react'
import { useRead } from '../data/reads.ts'
import { shownName } from '../model/shown-name.ts'
import { cx } from '../parts/class-names.ts'
import { Copy } from '../parts/copy.tsx'
import { useShortcut } from '../parts/keyboard.tsx'
import { useTheme } from '../parts/theme.ts'
import { words } from '../words/en.ts'
import css from './frame.module.css'
import { LinkState } from './link-state.tsx'

/** How much of a network's id tells it from a person's other networks. */
const NETWORK_CHARS = 8

interface TopBarProps {
  readonly onSearch: () => void
  readonly onHelp: () => void
}

/** Shows this node and its network, and gives the search, the state of the link, the theme and the keys. */
export function TopBar({ onSearch, onHelp }: TopBarProps) {
  return (
    <header className={css.bar}>
      <NodeName />
      <button type="button" className={css.search} onClick={onSearch} aria-haspopup="dialog">
        <Search aria-hidden="true" />
        <span>{words.frame.search}</span>
        <kbd className={css.kbd}>Ctrl K</kbd>
      </button>
      <LinkState />
      <ThemeButton />
      <button
        type="button"
        className={cx(css.tool, css.wideOnly)}
        title={`${words.frame.keyboard} (?)`}
        aria-label={words.frame.keyboard}
        onClick={onHelp}
      >
        <Keyboard aria-hidden="true" />
      </button>
    </header>
  )
}

function NodeName() {
  const { data: node } = useRead('getNode', {})
  if (node === undefined) return <div className={css.node} />
  return (
    <div className={css.node}>
      {node.Name !== '' && <b>{shownName(node.Name)}</b>}
      {node.Network !== '' && (
        <span className={css.network}>
          network{' '}
          <Copy text={node.Network} what="network id" mono>
            {shownName(node.Network.slice(0, NETWORK_CHARS))}
          </Copy>
        </span>
      )}
    </div>
  )
}

function ThemeButton() {
  const [theme, next] = useTheme()
  useShortcut('t', next)
  const Icon = { system: MonitorCog, light: Sun, dark: Moon }[theme]
  return (
    <button
      type="button"
      className={css.tool}
      title={`Theme: ${words.themes[theme]} (t)`}
      aria-label={`Theme: ${words.themes[theme]}. Change`}
      onClick={next}
    >
      <Icon aria-hidden="true" />
    </button>
  )
}
