import { expect, test } from 'vitest'
import { formatEndpoint, kindOf, parseEndpoint } from './endpoint.ts'

test.each([
  ['127.0.0.1:22', { type: 'tcp', host: '127.0.0.1', port: 22 }, '127.0.0.1:22'],
  [':8080', { type: 'tcp', host: '127.0.0.1', port: 8080 }, '127.0.0.1:8080'],
  ['tcp:db.local:5432', { type: 'tcp', host: 'db.local', port: 5432 }, 'db.local:5432'],
  ['[::1]:22', { type: 'tcp', host: '::1', port: 22 }, '[::1]:22'],
  ['udp:127.0.0.1:53', { type: 'udp', host: '127.0.0.1', port: 53 }, 'udp:127.0.0.1:53'],
  ['udp::53', { type: 'udp', host: '127.0.0.1', port: 53 }, 'udp:127.0.0.1:53'],
  ['unix:/run/app.sock', { type: 'unix', path: '/run/app.sock' }, 'unix:/run/app.sock'],
  ['unix:///run/app.sock', { type: 'unix', path: '/run/app.sock' }, 'unix:/run/app.sock'],
  ['unix:app.sock', { type: 'unix', path: 'app.sock' }, 'unix:app.sock'],
])('%s', (text, endpoint, printed) => {
  expect(parseEndpoint(text)).toEqual(endpoint)
  expect(formatEndpoint(parseEndpoint(text))).toBe(printed)
})

test.each([
  '',
  'nowhere',
  '22',
  ':0',
  ':65536',
  'a b:22',
  '::1:22',
  '[::1]',
  '[1.2.3.4]:22',
  'unix:',
  'http://a:1',
  'udp:53',
])('"%s" is refused with the forms that are right', (text) => {
  expect(() => parseEndpoint(text)).toThrow(expect.objectContaining({ code: 'services.bad_address' }))
})

test('port 0 is for listeners, and UDP is carried as datagrams', () => {
  expect(parseEndpoint(':0', { isListener: true })).toMatchObject({ port: 0 })
  expect(kindOf(parseEndpoint('udp::53'))).toBe('datagram')
  expect(kindOf(parseEndpoint('unix:/a'))).toBe('stream')
})
