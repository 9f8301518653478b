const STORAGE_KEY = 'mesh.token'

/** A token in the address (`#token=...`) is kept for this tab and taken out of the address. */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  try {
    if (given !== null && given !== '') {
      history.replaceState(null, '', location.pathname + location.search)
      sessionStorage.setItem(STORAGE_KEY, given)
    }
    return given ?? sessionStorage.getItem(STORAGE_KEY) ?? undefined
  } catch {
    // storage is switched off: the token lasts as long as the page
    return given ?? undefined
  }
}
