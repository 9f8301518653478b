import { expect, test } from 'vitest'
import { MAX_UPNP_ANSWER_BYTES, MAX_UPNP_DEPTH, MAX_UPNP_ELEMENTS } from '../limits.ts'
import {
  controlIn,
  decodeAddress,
  decodeFault,
  decodePort,
  encodeAction,
  locationIn,
  SEARCHES,
} from './upnp-messages.ts'
import { parseXml } from './upnp-xml.ts'

const GATEWAY = 'urn:schemas-upnp-org:device:InternetGatewayDevice:2'
const GATEWAY_1 = 'urn:schemas-upnp-org:device:InternetGatewayDevice:1'
const WAN = 'urn:schemas-upnp-org:service:WANIPConnection:2'
const WAN_1 = 'urn:schemas-upnp-org:service:WANIPConnection:1'
const PPP_1 = 'urn:schemas-upnp-org:service:WANPPPConnection:1'
const AT = '192.168.1.1'

const answer = (location: string, st = GATEWAY) =>
  Buffer.from(`HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=120\r\nST: ${st}\r\nLOCATION: ${location}\r\n\r\n`)
const service = (control: string, type = WAN) =>
  `<service><serviceType>${type}</serviceType><SCPDURL>/s</SCPDURL><controlURL>${control}</controlURL></service>`
const description = (inner: string) =>
  `<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><device><serviceList>${inner}</serviceList></device></root>`
const location = new URL(`http://${AT}:5000/rootDesc.xml`)

test('routers of both versions are asked to answer within a second', () => {
  const asked = SEARCHES.map((search) => Buffer.from(search).toString('latin1').split('\r\n'))
  for (const lines of asked) expect(lines).toContain('MX: 1')
  expect(asked.map((lines) => lines.find((line) => line.startsWith('ST: ')))).toEqual([
    `ST: ${GATEWAY}`,
    `ST: ${GATEWAY_1}`,
  ])
})

test('an answer to a search names where the router that sent it has its description', () => {
  expect(String(locationIn(answer(`http://${AT}:5000/rootDesc.xml`), AT))).toBe(String(location))
  expect(String(locationIn(answer('HTTP://192.168.1.1/a'), AT))).toBe('http://192.168.1.1/a')
  expect(String(locationIn(answer('http://192.168.1.1/a', GATEWAY_1), AT))).toBe('http://192.168.1.1/a')
})

test.each([
  ['http://192.168.1.9:5000/', 'another machine'],
  ['http://127.0.0.1:8080/', 'this machine'],
  ['http://169.254.169.254/latest/', 'what a cloud tells its machines'],
  ['http://localhost/', 'a name'],
  ['http://192.168.1.1.example.org/', 'a name that begins alike'],
  ['http://user:secret@192.168.1.1/', 'somebody at it'],
  ['https://192.168.1.1/', 'another protocol'],
  ['file:///etc/passwd', 'a file'],
  ['http://[::1', 'no URL'],
  ['', 'nothing'],
  [`http://192.168.1.1/${'a'.repeat(1_500)}`, 'too long a path'],
])('an answer that names %s is none: %s', (text) => {
  expect(locationIn(answer(text), AT)).toBe(undefined)
})

test.each([
  ['X * HTTP/1.1\r\n\r\n', 'an unknown method'],
  [`NOTIFY * HTTP/1.1\r\nNT: ${GATEWAY}\r\nLOCATION: http://${AT}/\r\n\r\n`, 'an announcement'],
  ['HTTP/1.1 200 OK\r\n\r\n', 'no header'],
  [`HTTP/1.1 200 OK\r\nST: ssdp:all\r\nLOCATION: http://${AT}/\r\n\r\n`, 'another kind of device'],
  [`HTTP/1.1 200 OK\r\nST: ${GATEWAY_1}0\r\nLOCATION: http://${AT}/\r\n\r\n`, 'a version that is not known'],
  [`HTTP/1.1 200 OK\r\nST: ${GATEWAY_1}\r\nLOCATION: http://192.168.1.9/\r\n\r\n`, 'another machine'],
  ['', 'nothing'],
  ['\r\n'.repeat(900), 'ends of lines'],
  [`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(9_000)}`, 'too many headers'],
])('a datagram with %j is no answer: %s', (text) => {
  expect(locationIn(Buffer.from(text), AT)).toBe(undefined)
})

test('what is in no alphabet is no answer', () => {
  expect(locationIn(Buffer.alloc(1_000, 0xff), AT)).toBe(undefined)
})

test('a description names where mappings are asked for, by its path or in full', () => {
  const others = service('/layer3', 'urn:schemas-upnp-org:service:Layer3Forwarding:1')
  expect(String(controlIn(description(others + service('/ctl/IPConn')), location)?.url)).toBe(
    `http://${AT}:5000/ctl/IPConn`,
  )
  expect(String(controlIn(description(service(`http://${AT}:6000/c`)), location)?.url)).toBe(
    `http://${AT}:6000/c`,
  )
})

test.each([
  [[PPP_1, WAN_1, WAN], WAN],
  [[PPP_1, WAN_1], WAN_1],
  [[`${WAN}0`, 'WANIPConnection:1', PPP_1], PPP_1],
])('of the services %j of a router the best one is asked', (types, best) => {
  const services = types.map((type) => service(`/${type}`, type)).join('')
  expect(controlIn(description(services), location)).toEqual({
    url: new URL(`http://${AT}:5000/${best}`),
    service: best,
  })
})

test.each([
  ['http://192.168.1.1:6000/a/', `http://${AT}:6000/a/c`],
  ['http://192.168.1.9:6000/a/', `http://${AT}:5000/c`],
  ['http://127.0.0.1/', `http://${AT}:5000/c`],
  ['file:///', `http://${AT}:5000/c`],
  ['', `http://${AT}:5000/c`],
])('a path begins at the URL %j that a description names where that is at the router', (base, url) => {
  const text = description(service('c', WAN_1)).replace('<device>', `<URLBase>${base}</URLBase><device>`)
  expect(String(controlIn(text, location)?.url)).toBe(url)
})

test.each([
  [description(service('http://127.0.0.1:8080/api')), 'a service of this machine'],
  [description(service('//10.0.0.1/c')), 'another machine'],
  [description(service('javascript:1')), 'no URL of HTTP'],
  [description(service('')), 'nothing'],
  [description(service('http://10.0.0.1/c', WAN_1)), 'another machine by a service of version 1'],
  [description(service('http://10.0.0.1/c') + service('/c', WAN_1)), 'another machine by its best service'],
  [
    description(service('/c', 'urn:schemas-upnp-org:service:WANIPConnection:3')),
    'a version that is not known',
  ],
  [description(service('/c', `${WAN_1}" SOAPACTION: "x`)), 'a service that is more than a name'],
  [description(''), 'no service'],
  [description(service('/c')).replace('<root', '<!DOCTYPE r [<!ENTITY a "b">]><root'), 'entities'],
  [description(service('/c')).slice(0, -20), 'half of it'],
  ['HTTP is no XML', 'no XML'],
  ['', 'nothing at all'],
])('a description is none: %s', (text) => {
  expect(controlIn(text, location)).toBe(undefined)
})

test('XML that is deep, or has many elements or attributes, is not read on', () => {
  const nested = (depth: number) => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`
  expect(parseXml(nested(MAX_UPNP_DEPTH))?.name).toBe('a')
  expect(parseXml(nested(MAX_UPNP_DEPTH + 1))).toBe(undefined)
  expect(parseXml(`<r>${'<a/>'.repeat(MAX_UPNP_ELEMENTS - 1)}</r>`)?.children).toHaveLength(
    MAX_UPNP_ELEMENTS - 1,
  )
  expect(parseXml(`<r>${'<a/>'.repeat(MAX_UPNP_ELEMENTS)}</r>`)).toBe(undefined)
  expect(parseXml(`<r>${'&#x41;'.repeat(MAX_UPNP_ELEMENTS + 1)}</r>`)).toBe(undefined)
  const attributes = Array.from({ length: MAX_UPNP_ELEMENTS }, (_, at) => `a${at}="b"`).join(' ')
  expect(parseXml(`<r ${attributes}/>`)).toBe(undefined)
})

test('a declaration that does not end is not read at all: each of its characters would take longer than the one before', () => {
  expect(parseXml(`<!${'<'.repeat(MAX_UPNP_ANSWER_BYTES)}`)).toBe(undefined)
  expect(parseXml(`<a><![CDATA[b]]><!-- c --></a>`)).toMatchObject({ text: 'b' })
})

const soap = (inner: string) =>
  `<?xml version="1.0"?><s:Envelope xmlns:s="s"><s:Body><u:R xmlns:u="u">${inner}</u:R></s:Body></s:Envelope>`

test.each(['0', '65536', '-1', '1e3', '0x10', '', '99999999999999'])(
  'a router that names %j as its port is not believed',
  (text) => {
    const given = soap(`<NewReservedPort>${text}</NewReservedPort>`)
    expect(() => decodePort(given)).toThrow('no port')
  },
)

test.each([
  '127.0.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '169.254.169.254',
  '::1',
  '2001:db8::1',
  'a',
  '',
])('a router that names %j as its address outside is not believed', (text) => {
  const given = soap(`<NewExternalIPAddress>${text}</NewExternalIPAddress>`)
  expect(() => decodeAddress(given)).toThrow('no address outside')
})

test('a port is taken, and a private address, of a network around, too', () => {
  expect(decodePort(soap('<NewReservedPort> 47100 </NewReservedPort>'))).toBe(47_100)
  expect(decodeAddress(soap('<NewExternalIPAddress> 100.64.1.2 </NewExternalIPAddress>'))).toBe('100.64.1.2')
})

test('of why a router refuses a number alone is kept', () => {
  const fault = (code: string) =>
    soap(
      `<UPnPError><errorCode>${code}</errorCode><errorDescription>\u{1b}[2J</errorDescription></UPnPError>`,
    )
  expect(decodeFault(fault('718').replace('\u{1b}', ''))).toBe(718)
  expect(decodeFault(fault('all of it'))).toBe(undefined)
  expect(decodeFault('')).toBe(undefined)
})

test('an action is written in the order of its values', () => {
  const written = encodeAction(WAN_1, 'DeletePortMapping', { NewExternalPort: 1, NewProtocol: 'UDP' })
  expect(written).toContain(
    `<u:DeletePortMapping xmlns:u="${WAN_1}"><NewExternalPort>1</NewExternalPort><NewProtocol>UDP`,
  )
  expect(parseXml(written)).toBeDefined()
})
