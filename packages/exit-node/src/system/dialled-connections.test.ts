import { expect, test } from 'vitest'
import { findDialled } from './dialled-connections.ts'

/** What `ss -Htin` says of connections: each with what waits, both ends and figures. */
function listOf(connections: readonly (readonly [string, string])[]): string {
  return connections.map(([ends, figures]) => `${ends} \n\t ts sack cubic ${figures} minrtt:0.01\n`).join('')
}

test('whoever dialled has one byte more acknowledged than it sent, as its SYN is one', () => {
  const text = listOf([
    ['2      0      10.0.0.5:7002  203.0.113.7:7001', 'bytes_sent:1000 bytes_acked:1001 bytes_received:2'],
    ['0      0      10.0.0.5:7002  203.0.113.7:52678', 'bytes_sent:7 bytes_acked:7 bytes_received:50'],
    ['0      0      10.0.0.5:7003  203.0.113.7:7001', 'bytes_acked:1 segs_out:2'],
    ['0      0      10.0.0.5:7003  203.0.113.7:52678', 'segs_in:2'],
    // some waits, some is on its way, some was sent twice
    [
      '2 100000 10.0.0.5%eth0:7004  203.0.113.7:7001  timer:(on,004ms,0)',
      'bytes_sent:71856 bytes_retrans:200 bytes_acked:1001 unacked:2 notsent:29344',
    ],
    [
      '0 234464 10.0.0.5:7004  203.0.113.7:52678 timer:(on,004ms,0)',
      'bytes_sent:128007 bytes_acked:65543 unacked:2 notsent:172000',
    ],
    ['0 0 [2001:db8::5]:7002  [2001:db8::7]:7001', 'bytes_sent:1 bytes_acked:2'],
    ['0 0 [::ffff:10.0.0.8]:7002  [::ffff:203.0.113.8]:7001', 'bytes_sent:1 bytes_acked:2'],
  ])
  expect([...findDialled(text)]).toEqual([
    '10.0.0.5 7002 203.0.113.7 7001',
    '10.0.0.5 7003 203.0.113.7 7001',
    '10.0.0.5 7004 203.0.113.7 7001',
    '2001:db8::5 7002 2001:db8::7 7001',
    '10.0.0.8 7002 203.0.113.8 7001',
  ])
})
