/** HTTP as bytes, for requests that no client library would send. */
import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Sends `bytes`, and gives all answers that came before the server closed, or before `silentMs` without a byte. */
export function sendRaw(
  port: number,
  bytes: string | Buffer | readonly (string | Buffer)[],
  { silentMs = 300, host = '127.0.0.1' } = {},
): Promise<readonly RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, host, () => {
      for (const part of [bytes].flat()) socket.write(part as string | Buffer)
    })
    socket.setTimeout(silentMs, () => socket.destroy())
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // a server that has answered may reset what is still being sent
    socket.on('error', () => {})
    socket.on('close', () => {
      try {
        resolve(parseAnswers(Buffer.concat(chunks).toString('latin1')))
      } catch (error) {
        reject(error)
      }
    })
  })
}

/** One GET or other request without a body, as a browser or curl would send it, but with the target as given. */
export async function ask(
  port: number,
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<RawAnswer> {
  const all = {
    Host: `127.0.0.1:${port}`,
    ...headers,
    ...(body !== '' && { 'Content-Length': String(Buffer.byteLength(body)) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const [answer] = await sendRaw(
    port,
    `${line} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n${body}`,
    {
      silentMs: 5000,
    },
  )
  if (answer === undefined) throw new Error(`no answer to ${line.slice(0, 100)}`)
  return answer
}

function parseAnswers(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*/.exec(rest)
    if (end === -1 || head === null) throw new Error(`not an answer: ${JSON.stringify(rest.slice(0, 200))}`)
    const headers = new Map(
      rest
        .slice(head[0].length, end)
        .split('\r\n')
        .filter((line) => line !== '')
        .map((line) => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
        }),
    )
    const length = Number(headers.get('content-length') ?? 0)
    const body = Buffer.from(rest.slice(end + 4, end + 4 + length), 'latin1').toString()
    answers.push({ status: Number(head[1]), headers, body })
    rest = rest.slice(end + 4 + length)
    if (headers.get('transfer-encoding') === 'chunked') break
  }
  return answers
}
