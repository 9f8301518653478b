/**
 * Calls itself a router that speaks UPnP, for an attack that is made from another namespace: hears who searches by SSDP,
 * answers with what the kind says, and serves what it named. `hostile-router.ts KIND SELF OTHER...`: the address of each is
 * one of this namespace's, and each answers. Prints what it counted, a line of JSON each second.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { createServer, type ServerResponse } from 'node:http'

const SSDP = { address: '239.255.255.250', port: 1900 }
const IGD = 'urn:schemas-upnp-org:device:InternetGatewayDevice:2'
const WAN = 'urn:schemas-upnp-org:service:WANIPConnection:2'
/** Where descriptions are served, and where nothing of a router is that some name all the same. */
const [PORT, OTHER_PORT] = [5_000, 5_001]
const BLOCK = Buffer.alloc(64 * 1024, 'x')

const [kind = '', ...addresses] = process.argv.slice(2)
const counts: Record<string, number> = {}
const count = (what: string, times = 1) => {
  counts[what] = (counts[what] ?? 0) + times
}

const service = (controlUrl: string, type = WAN) =>
  `<service><serviceType>${type}</serviceType><serviceId>a</serviceId><SCPDURL>/s.xml</SCPDURL><controlURL>${controlUrl}</controlURL></service>`
const description = (inner: string) =>
  `<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><device><deviceType>${IGD}</deviceType><friendlyName>\u001b[2J\u202e</friendlyName><serviceList>${inner}</serviceList></device></root>`

/** The description that a path names, by its first letters. */
const DESCRIPTIONS: Readonly<Record<string, () => string>> = {
  plain: () => description(service('/control')),
  loopback: () => description(service(`http://127.0.0.1:${OTHER_PORT}/control`)),
  services: () => description(service('/control', 'urn:x:1').repeat(200_000) + service('/control')),
  deep: () => `<?xml version="1.0"?><root>${'<device>'.repeat(3_000_000)}`,
  attributes: () =>
    `<?xml version="1.0"?><root ${Array.from({ length: 1_000_000 }, (_, at) => `a${at}="b"`).join(' ')}/>`,
  entities: () =>
    `<?xml version="1.0"?><!DOCTYPE r [${['a', 'b', 'c', 'd', 'e', 'f', 'g']
      .map(
        (name, at, all) =>
          `<!ENTITY ${name} "${at === 0 ? 'x'.repeat(100) : `&${all[at - 1]};`.repeat(50)}">`,
      )
      .join('')}]><root><device>&g;</device></root>`,
}

const SOAP = (action: string, inner: string) =>
  `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><u:${action}Response xmlns:u="${WAN}">${inner}</u:${action}Response></s:Body></s:Envelope>`

function serve(path: string, response: ServerResponse): void {
  const xml = { 'content-type': 'text/xml' }
  const name = path.slice(1).split(/[-?/]/)[0] ?? ''
  count(`asked for ${name}`)
  const whole = DESCRIPTIONS[name]
  if (whole !== undefined) response.writeHead(200, xml).end(whole())
  else if (name === 'redirect')
    response.writeHead(302, { location: `http://127.0.0.1:${OTHER_PORT}/redirected` }).end()
  else if (name === 'slow') {
    response.writeHead(200, xml)
    const timer = setInterval(() => response.write(' '), 500)
    response.once('close', () => clearInterval(timer))
  } else if (name === 'informed') {
    const more = () => {
      for (let at = 0; at < 100; at++) response.writeProcessing()
      if (!response.destroyed) setTimeout(more, 5)
    }
    more()
  } else if (name === 'other') response.writeHead(200, { 'content-type': 'text/plain' }).write('x')
  else if (name === 'control') {
    // what routers say of themselves
    const turn = (counts['asked for control'] ?? 0) % 4
    if (turn === 0) return pour(response)
    if (turn === 1) response.writeHead(307, { location: `http://127.0.0.1:${OTHER_PORT}/redirected` }).end()
    else if (turn === 2)
      response.writeHead(200, xml).end(SOAP('AddAnyPortMapping', '<NewReservedPort>70000</NewReservedPort>'))
    else
      response
        .writeHead(200, xml)
        .end(SOAP('GetExternalIPAddress', '<NewExternalIPAddress>8.8.8.8</NewExternalIPAddress>'))
  } else pour(response)
}

/** Sends bytes without end, as fast as they are taken. */
function pour(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/xml' })
  const more = () => {
    while (!response.destroyed) {
      count('MB', BLOCK.length / 1e6)
      if (!response.write(BLOCK)) break
    }
  }
  response.on('drain', more)
  more()
}

const answer = (location: string, usn: string, more = '') =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=120\r\nST: ${IGD}\r\nUSN: ${usn}\r\nEXT:\r\nSERVER: x\r\nLOCATION: ${location}\r\n${more}\r\n`,
  )

/** Datagrams that are no answers; the first three ended a node when they reached it. */
const ODD: readonly Buffer[] = [
  Buffer.from('X * HTTP/1.1\r\n\r\n'),
  Buffer.from(`HTTP/1.1 200 OK\r\nST: ${IGD}\r\nUSN: uuid:x\r\nLOCATION: http://192.168.77.1:5000/\r\n\r\n`),
  Buffer.from('NOTIFY * HTTP/1.1\r\nNT: 1\r\nNTS: 2\r\nUSN: 3\r\nLOCATION: 4\r\n\r\n'),
  Buffer.alloc(0),
  Buffer.from('\r\n'.repeat(30_000)),
  Buffer.alloc(60_000, 0xff),
  Buffer.from(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(9_000)}\r\n`),
  Buffer.from(`HTTP/1.1 200 OK\r\n${':'.repeat(60_000)}`),
  answer('http://[::1', 'uuid:\u001b[2J\u202e'),
  answer('ftp://192.168.77.1/', '1'),
  answer('http://u:p@192.168.77.1:5000/plain', '__proto__'),
]

function onSearch(socket: Socket, from: RemoteInfo, at: number, self: string): void {
  count('searches heard')
  const say = (bytes: Buffer) => socket.send(bytes, from.port, from.address)
  if (kind === 'odd') {
    for (const bytes of ODD) say(bytes)
    count('odd datagrams', ODD.length)
    return
  }
  const kinds = ['endless', 'slow', 'informed', 'other', 'redirect', ...Object.keys(DESCRIPTIONS)]
  const locations = [
    ...kinds.map((name) => `http://${self}:${PORT}/${name}`),
    `http://127.0.0.1:${OTHER_PORT}/named`,
    `http://${addresses[(at + 1) % addresses.length]}:${PORT}/third`,
    `http://192.168.77.2:${OTHER_PORT}/named`,
    `http://localhost:${OTHER_PORT}/named`,
    `https://${self}:${PORT}/plain`,
  ]
  // ten thousand in all, without pause
  const total = Math.ceil(10_000 / addresses.length)
  let sent = 0
  const more = () => {
    for (let n = 0; n < 100 && sent < total; n++, sent++) {
      const location = locations[sent % locations.length] ?? ''
      say(answer(sent < locations.length ? location : `${location}-${sent}`, `uuid:${at}-${sent}`))
    }
    count('answers', 100)
    if (sent < total) setImmediate(more)
  }
  more()
}

addresses.forEach((self, at) => {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  socket.on('error', () => {})
  socket.bind(SSDP.port, SSDP.address, () => {
    socket.addMembership(SSDP.address, self)
    const speaking = createSocket('udp4').bind(0, self)
    speaking.on('error', () => {})
    let lastMs = 0
    socket.on('message', (bytes, from) => {
      if (!bytes.toString('latin1').startsWith('M-SEARCH')) return
      // one flood for each address and second
      if (performance.now() - lastMs < 1_000) return count('searches heard')
      lastMs = performance.now()
      onSearch(speaking, from, at, self)
    })
    if (kind === 'odd' && at === 0)
      setInterval(() => {
        for (const bytes of ODD) speaking.send(bytes, SSDP.port, SSDP.address)
      }, 500)
  })
  const server = createServer((request, response) => {
    response.on('error', () => {})
    serve(request.url ?? '/', response)
  })
  server.on('connection', () => count('connections'))
  server.on('clientError', (_error, client) => client.destroy())
  server.listen(PORT, self)
})
setInterval(() => console.log(JSON.stringify(counts)), 500)
