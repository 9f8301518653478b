/** Puts what a member knows into the page. Members write it: it is text here and never markup. */
import type { Mesh, MeshEntry, MeshMember } from '@mesh/browser'

const at = (id: string) => document.querySelector<HTMLElement>(`#${id}`)

const STATES = {
  connecting: 'connecting to the node',
  waiting: 'waiting until an administrator lets this tab in',
  joined: 'joined',
  removed: 'removed by an administrator',
} as const

export function show(mesh: Mesh): void {
  at('join')?.toggleAttribute('hidden', true)
  at('mesh')?.toggleAttribute('hidden', false)
  const { state, reason } = mesh
  setText('state', `${mesh.id}: ${STATES[state]}${reason === undefined ? '' : ` (${reason})`}`)
  at('state')?.setAttribute('data-state', state)
  showMembers(mesh.members())
}

export function showMembers(members: readonly MeshMember[]): void {
  const lines = members.map(({ id, name, path }, index) => {
    const how = index === 0 ? 'this tab' : (path ?? 'heard of over others')
    return element('li', `${name ?? ''} ${id}: ${how}`.trim())
  })
  at('members')?.replaceChildren(...lines)
}

export function showEntries(entries: readonly MeshEntry[]): void {
  const rows = entries.map(({ key, value, owner }) => {
    const row = document.createElement('tr')
    row.append(element('td', key), element('td', textOf(value)), element('td', owner.slice(-8)))
    return row
  })
  at('entries')?.replaceChildren(...rows)
}

export function showAnswer(text: string): void {
  setText('answer', text)
}

export function showProblem(text: string): void {
  setText('problem', text)
  at('problem')?.toggleAttribute('hidden', text === '')
}

/** Whole numbers beyond 2^53 are a `bigint`, which JSON.stringify refuses. */
function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? ''
  )
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

function setText(id: string, text: string): void {
  const place = at(id)
  if (place !== null) place.textContent = text
}
