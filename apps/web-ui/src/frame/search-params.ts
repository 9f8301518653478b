/**
 * Search parameters as plain text (`?q=relayed&bucket=dns`), so that a person can read and write an address by
 * hand. Names with dots stand here and never in the path: a node serves the page only for paths without a file
 * extension.
 */
export function parseSearchText(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search))
}

export function printSearchText(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === 'string' && value !== '') params.set(name, value)
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

/** The state that lists keep in the address. */
export interface ListSearch {
  /** The filter, as typed. */
  readonly q?: string
}

export function validateListSearch(search: Record<string, unknown>): ListSearch {
  return { ...textOf(search, 'q') }
}

/** The state that the pages of services and files keep in the address. */
export interface OffersSearch extends ListSearch {
  /** The panel that is open: a form (`offer`, `connect`) or one service, connection, file or download of this node. */
  readonly view?: OffersView
  /** The subject of the panel. */
  readonly name?: string
}

const OFFERS_VIEWS = ['offer', 'connect', 'service', 'connection', 'file', 'download'] as const
type OffersView = (typeof OFFERS_VIEWS)[number]

export function validateOffersSearch(search: Record<string, unknown>): OffersSearch {
  const view = OFFERS_VIEWS.find((known) => known === search.view)
  return { ...validateListSearch(search), ...textOf(search, 'name'), ...(view !== undefined && { view }) }
}

/** The state that the page of names keeps in the address. */
export interface NamesSearch extends ListSearch {
  /** `new`: the form for a new name is open. `test`: the one that asks who answers for a name. */
  readonly view?: 'new' | 'test'
  /** The name that is tested. */
  readonly name?: string
  /** The record type that it is tested for; A without one. */
  readonly type?: string
  /** The pattern whose panel is open. */
  readonly pattern?: string
}

export function validateNamesSearch(search: Record<string, unknown>): NamesSearch {
  const { view } = search
  return {
    ...validateListSearch(search),
    ...textOf(search, 'pattern'),
    ...(view === 'test' && { ...textOf(search, 'name'), ...textOf(search, 'type') }),
    ...(view === 'new' || view === 'test' ? { view } : {}),
  }
}

/** The state that the ledger keeps in the address. */
export interface LedgerSearch extends ListSearch {
  readonly bucket?: string
  /** The key whose panel is open. */
  readonly key?: string
  /** `new`: the form for a new key is open. `refused`: the entries that were refused. */
  readonly view?: 'new' | 'refused'
}

export function validateLedgerSearch(search: Record<string, unknown>): LedgerSearch {
  const { view } = search
  return {
    ...validateListSearch(search),
    ...textOf(search, 'bucket'),
    ...textOf(search, 'key'),
    ...(view === 'new' || view === 'refused' ? { view } : {}),
  }
}

function textOf<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): { readonly [_ in Name]?: string } {
  const value = search[name]
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [_ in Name]: string }) : {}
}
