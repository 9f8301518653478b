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

/** The state that the map keeps in the address. */
export interface MapSearch extends ListSearch {
  /** The facts as a table, not as a picture. */
  readonly view?: 'table'
  /** The machine whose panel is open. */
  readonly machine?: string
}

export function validateMapSearch(search: Record<string, unknown>): MapSearch {
  return {
    ...validateListSearch(search),
    ...textOf(search, 'machine'),
    ...(search['view'] === 'table' && { view: 'table' }),
  }
}

/** The state that the list of blocks keeps in the address. */
export interface BlocksSearch extends ListSearch {
  /** `hidden`: blocks that hold only heartbeats are not listed. */
  readonly heartbeats?: 'hidden' | undefined
}

export function validateBlocksSearch(search: Record<string, unknown>): BlocksSearch {
  return {
    ...validateListSearch(search),
    heartbeats: search.heartbeats === 'hidden' ? 'hidden' : undefined,
  }
}

/** The state that the pages of services and files keep in the address. */
export interface OffersSearch extends ListSearch {
  /** The panel that is open: a form (`offer`, `connect`), what is in a member's file (`look`), or one service, connection, file or download of this node. */
  readonly view?: OffersView | undefined
  /** The subject of the panel. */
  readonly name?: string
}

const SERVICES_VIEWS = ['offer', 'connect', 'service', 'connection'] as const
const FILES_VIEWS = ['offer', 'file', 'download', 'look'] as const
type OffersView = (typeof SERVICES_VIEWS)[number] | (typeof FILES_VIEWS)[number]

export function validateServicesSearch(search: Record<string, unknown>): OffersSearch {
  return validateOffersSearch(search, SERVICES_VIEWS)
}

export function validateFilesSearch(search: Record<string, unknown>): OffersSearch {
  return validateOffersSearch(search, FILES_VIEWS)
}

/** A view that the page does not have is told as none: what is left out here the router would add as it was typed. */
function validateOffersSearch(search: Record<string, unknown>, views: readonly OffersView[]): OffersSearch {
  const view = views.find((known) => known === search.view)
  return { ...validateListSearch(search), ...textOf(search, 'name'), view }
}

/** The state that the page of names keeps in the address. */
export interface NamesSearch extends ListSearch {
  /** `new`: the form for a new name is open. `test`: the one that asks who answers for a name. */
  readonly view?: 'new' | 'test' | undefined
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
    view: view === 'new' || view === 'test' ? view : undefined,
  }
}

/** The state that the settings keep in the address. */
export interface SettingsSearch extends ListSearch {
  /** `api`: the document of the API is open. */
  readonly view?: 'api' | undefined
}

export function validateSettingsSearch(search: Record<string, unknown>): SettingsSearch {
  return { ...validateListSearch(search), view: search.view === 'api' ? 'api' : undefined }
}

/** The state that the ledger keeps in the address. */
export interface LedgerSearch extends ListSearch {
  readonly bucket?: string
  /** The key whose panel is open. */
  readonly key?: string
  /** `new`: the form for a new key is open. `refused`: the entries that were refused. */
  readonly view?: 'new' | 'refused' | undefined
}

export function validateLedgerSearch(search: Record<string, unknown>): LedgerSearch {
  const { view } = search
  return {
    ...validateListSearch(search),
    ...textOf(search, 'bucket'),
    ...textOf(search, 'key'),
    view: view === 'new' || view === 'refused' ? view : undefined,
  }
}

function textOf<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): { readonly [_ in Name]?: string } {
  const value = search[name]
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [_ in Name]: string }) : {}
}
