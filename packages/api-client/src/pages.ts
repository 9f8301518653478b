/** Reading page by page: each answer says in its header Link where the next page begins. */
import { MAX_PAGE_ENTRIES } from '@mesh/api-contract'
import type { CallOptions, PagesOptions } from './call-options.ts'

/** An answer, and the `after` of the page that follows. */
export interface Answered<Value = unknown> {
  readonly value: Value
  /** Undefined on the last page. */
  readonly next: string | undefined
}

type AskForPage = (
  page: { readonly after?: string; readonly limit: string },
  options: CallOptions,
) => Promise<Answered>

/** Asks for a page when the one before was taken. */
export async function* readPages(
  ask: AskForPage,
  { limit = MAX_PAGE_ENTRIES, after, signal }: PagesOptions,
): AsyncIterableIterator<unknown> {
  const options = signal === undefined ? {} : { signal }
  let from = after
  do {
    const page = { limit: String(limit), ...(from !== undefined && { after: from }) }
    const { value, next } = await ask(page, options)
    yield value
    // a page that leads to itself would be read for ever
    from = next === from ? undefined : next
  } while (from !== undefined)
}

/** The `after` that the header Link names with rel="next". */
export function nextOf(headers: Headers): string | undefined {
  const url = /<([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1]
  if (url === undefined || !URL.canParse(url, 'http://node')) return undefined
  return new URL(url, 'http://node').searchParams.get('after') ?? undefined
}
