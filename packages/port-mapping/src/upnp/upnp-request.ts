/** Asks one thing of a router over HTTP: no redirection is followed, and bytes and time have a bound, whatever it answers. */
import { request } from 'node:http'
import { toError } from '@mesh/core'
import { MAX_UPNP_ANSWER_BYTES, MAX_UPNP_HEAD_BYTES } from '../limits.ts'

interface RouterAnswer {
  readonly status: number
  readonly text: string
}

/** An action that is posted; without it the URL is read. */
interface Posted {
  readonly action: string
  readonly body: string
}

/**
 * @param url at an IP address; a name would be looked up
 * @throws Error when the answer does not come whole, or is over the bound; the signal's reason
 */
export function askRouter(url: URL, signal: AbortSignal, posted?: Posted): Promise<RouterAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      signal,
      // a connection of its own, which ends with the answer
      agent: false,
      maxHeaderSize: MAX_UPNP_HEAD_BYTES,
      method: posted === undefined ? 'GET' : 'POST',
      headers:
        posted === undefined
          ? { accept: 'text/xml' }
          : {
              'content-type': 'text/xml; charset="utf-8"',
              'content-length': Buffer.byteLength(posted.body),
              soapaction: `"${posted.action}"`,
            },
    })
    const fail = (error: unknown) => {
      asked.destroy()
      reject(toError(signal.aborted ? signal.reason : error))
    }
    // what comes before an answer counts, and what frames it
    const isOver = () => {
      const over = (asked.socket?.bytesRead ?? 0) > MAX_UPNP_ANSWER_BYTES
      if (over) fail(new Error('the router answers too much'))
      return over
    }
    asked.on('error', fail)
    asked.on('information', isOver)
    asked.on('response', (response) => {
      const blocks: Buffer[] = []
      response.on('error', fail)
      response.on('data', (block: Buffer) => {
        if (!isOver()) blocks.push(block)
      })
      response.on('end', () => {
        if (!response.complete) return fail(new Error('the router ended its answer early'))
        const text = Buffer.concat(blocks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, text })
        asked.destroy()
      })
    })
    asked.end(posted?.body)
  })
}
