/**
 * Serves the profiles of a node that runs with `--debug` under `/debug/pprof/`, in the forms of Go's net/http/pprof. One
 * is taken at a time, over all listeners, and none goes on after its asker has left.
 */
import type { Express, Request, Response } from 'express'
import type { DebugPort, ProfileRequest } from '../debug-port.ts'
import { MAX_PROFILE_SECONDS } from '../limits.ts'
import { issue, Problem } from '../messages/problem.ts'
import { API_HEADERS, splitTarget } from '../messages/reply.ts'

const PROFILES_PATH = '/debug/pprof'

/** Answers requests below `/debug/pprof`. */
export interface Profiles {
  /** @throws Problem `http.not_found`, `http.bad_query`, `debug.busy` */
  serve(req: Request, res: Response): Promise<void>
}

/** Makes the one seat that all listeners share. */
export function createProfiles(port: DebugPort): Profiles {
  let isBusy = false
  return {
    async serve(req, res) {
      const name = nameOf(req)
      if (name === '') return sendPage(req, res, formatIndex(port))
      const request = parseRequest(port, name, splitTarget(req.url).search)
      if (req.method === 'HEAD') return sendPage(req, res, '')
      if (isBusy) throw new Problem('debug.busy', undefined, { headers: { 'Retry-After': '5' } })
      isBusy = true
      const left = new AbortController()
      res.once('close', () => left.abort(new Error('the asker has left')))
      try {
        await sendProfile(port, request, { res, signal: left.signal })
      } finally {
        isBusy = false
      }
    },
  }
}

/** Mounts the profiles; to be called after the guards of a listener. */
export function serveProfiles(app: Express, profiles: Profiles): void {
  app.all([PROFILES_PATH, `${PROFILES_PATH}/`, `${PROFILES_PATH}/:profile`], async (req, res) => {
    res.locals['route'] = 'debug'
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw new Problem('http.method_not_allowed', 'this address takes GET, HEAD', {
        headers: { Allow: 'GET, HEAD' },
      })
    }
    await profiles.serve(req, res)
  })
}

async function sendProfile(
  port: DebugPort,
  request: ProfileRequest,
  { res, signal }: { readonly res: Response; readonly signal: AbortSignal },
): Promise<void> {
  const answer = await port.take(request, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw error
  })
  if (answer === undefined || signal.aborted) return
  const { body, type, fileName } = answer
  res
    .writeHead(200, {
      ...API_HEADERS,
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      ...(fileName !== undefined && { 'Content-Disposition': `attachment; filename="${fileName}"` }),
    })
    .end(body)
}

function nameOf(req: Request): string {
  const { path } = splitTarget(req.url)
  return path.slice(PROFILES_PATH.length + 1)
}

function parseRequest({ profiles }: DebugPort, name: string, search: string): ProfileRequest {
  const kind = profiles.find((each) => each.name === name)
  if (kind === undefined) {
    throw new Problem('http.not_found', `there is no profile ${JSON.stringify(name.slice(0, 80))}`, {
      hint: `There are ${profiles.map((each) => each.name).join(', ')}.`,
    })
  }
  const query = new URLSearchParams(search)
  const text = query.get('seconds')
  const collectsGarbage = query.get('gc') === '1'
  if (text === null) return { name, seconds: kind.defaultSeconds ?? 0, collectsGarbage }
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (seconds >= 1 && seconds <= MAX_PROFILE_SECONDS) return { name, seconds, collectsGarbage }
  const expected = `a whole number from 1 to ${MAX_PROFILE_SECONDS}`
  throw new Problem('http.bad_query', `seconds is not ${expected}`, {
    issues: [issue('seconds', text, expected)],
  })
}

function formatIndex({ profiles }: DebugPort): string {
  const rows = profiles.map(
    ({ name, summary, defaultSeconds }) =>
      `<li><a href="${PROFILES_PATH}/${name}">${name}</a>: ${summary}${defaultSeconds === undefined ? '' : ` <code>?seconds=</code> says for how long (${defaultSeconds}).`}</li>`,
  )
  return `<!doctype html><title>Profiles of mesh</title><h1>Profiles</h1><ul>${rows.join('')}</ul>\n`
}

function sendPage(req: Request, res: Response, text: string): void {
  res.writeHead(200, { ...API_HEADERS, 'Content-Type': 'text/html; charset=utf-8' })
  res.end(req.method === 'HEAD' ? undefined : text)
}
