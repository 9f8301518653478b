import { expect, test } from 'vitest'
import { describeListenError } from './describe-listen-error.ts'

const textOf = (...lines: readonly string[]) =>
  new Error(
    ['Some configured addresses failed to be listened on:', '', ...lines, '    at Server.listen'].join('\n'),
  )

test.each([
  [
    '/ip4/0.0.0.0/tcp/4001: Error: listen EADDRINUSE: address already in use 0.0.0.0:4001',
    'cannot listen on /ip4/0.0.0.0/tcp/4001: another program has TCP port 4001',
    "`ss -lntp 'sport = :4001'`",
  ],
  [
    '/ip4/0.0.0.0/tcp/80/ws: Error: listen EACCES: permission denied 0.0.0.0:80',
    'cannot listen on /ip4/0.0.0.0/tcp/80/ws: this user may not listen on port 80',
    'CAP_NET_BIND_SERVICE',
  ],
  [
    '/ip6/fd00::9/tcp/4001: Error: listen EADDRNOTAVAIL: address not available fd00::9:4001',
    'cannot listen on /ip6/fd00::9/tcp/4001: this machine has no address fd00::9',
    '--listen-maddrs /ip6/::/tcp/4001',
  ],
])('names the address, the reason and the next step: %s', (line, message, step) => {
  expect(describeListenError(textOf(line))).toEqual({ message, hint: expect.stringContaining(step) })
})

test('says nothing of what it does not know', () => {
  expect(describeListenError(textOf('/ip4/0.0.0.0/tcp/4001: Error: no transport'))).toBeUndefined()
  expect(describeListenError('EADDRINUSE')).toBeUndefined()
})
