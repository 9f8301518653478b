import { expect, test } from 'vitest'
import { openUrl } from './open-url.ts'

test.each([
  ['127.0.0.1:43121', 'http://127.0.0.1:43121/'],
  ['localhost:8080', 'http://localhost:8080/'],
  ['[::1]:3000', 'http://[::1]:3000/'],
  [':8080', 'http://127.0.0.1:8080/'],
  ['0.0.0.0:80', 'http://127.0.0.1:80/'],
  ['[::]:80', 'http://[::1]:80/'],
  ['tcp:192.168.1.5:8443', 'https://192.168.1.5:8443/'],
])('%s opens as %s', (listen, url) => expect(openUrl(listen)).toBe(url))

test.each([
  'udp:127.0.0.1:53',
  'unix:/run/app.sock',
  '127.0.0.1:0',
  '127.0.0.1:99999',
  'evil.example:80',
  '127.0.0.1@evil.example:80',
  'javascript:alert(1)',
])('%s is nothing to open', (listen) => expect(openUrl(listen)).toBeUndefined())
