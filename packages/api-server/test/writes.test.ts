import { ApiError } from '@mesh/api-client'
import { MeshError } from '@mesh/core'
import { createLedger, type Ledger, type WriteOutcome } from '@mesh/ledger'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newSigner, startTestNode, type TestNode } from './fixture.ts'
import { ask } from './raw-http.ts'

let node: TestNode
beforeEach(async () => {
  node = await startTestNode()
})
afterEach(() => node.stop())

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('did not fail'),
    (error: unknown) => error as ApiError,
  )

/** Another member, alive, whose entries this node has taken. */
async function otherMember(write: (other: Ledger) => void): Promise<Ledger> {
  const other = createLedger({}, { signer: newSigner() })
  other.put('healthcheck', other.self, JSON.stringify(new Date().toISOString().replace(/\.\d+/, '')))
  write(other)
  await eventually(() => expect(other.snapshot().size).toBeGreaterThan(1))
  const { rejected } = node.ledger.merge([...other.snapshot().entries()], other.self)
  expect(rejected).toEqual([])
  await other.stop()
  return other
}

/** The node's ledger, but a put settles when the test says so. */
function stalledLedger(settled: Promise<WriteOutcome>): Ledger {
  return new Proxy(node.ledger, {
    get(ledger, name) {
      const member: unknown = name === 'put' ? () => ({ settled }) : Reflect.get(ledger, name)
      return typeof member === 'function' ? member.bind(ledger) : member
    },
  })
}

test('a key of another live member is refused with its owner and the end of the lease', async () => {
  const other = await otherMember((ledger) => ledger.put('dns', '^nas$', '{"1":"10.1.0.9"}'))
  const { client } = node
  for (const write of [
    () => client.createDns({ body: { Regex: '^nas$', Records: { A: '10.1.0.1' } } }),
    () => client.deleteEntry({ bucket: 'dns', key: '^nas$' }),
  ]) {
    const error = await failure(write())
    expect(error).toMatchObject({ code: 'ledger.not_owner', status: 409, owner: other.self })
    const leftMs = Date.parse(error.leaseEndsAt ?? '') - Date.now()
    expect(leftMs).toBeGreaterThan(400_000)
    expect(leftMs).toBeLessThanOrEqual(480_000)
  }
})

test.each([
  ['machines', '10.1.0.11'],
  ['services', 'web'],
  ['files', 'f'],
  ['users', 'somebody'],
  ['egress', 'somebody'],
  ['healthcheck', 'somebody'],
])('a value of %s that its rule gives to someone else is refused', async (bucket, key) => {
  expect(await failure(node.client.putJson({ bucket, key, body: { PeerID: 'x' } }))).toMatchObject({
    code: 'ledger.not_owner',
    status: 409,
  })
  expect(await failure(node.client.putText({ bucket, key, value: 'x' }))).toMatchObject({ status: 409 })
})

test('a key that another holds is refused with its holder, not with whom the value names', async () => {
  const record = (peer: string) => ({ PeerID: peer, Address: '10.1.0.11' })
  const other = await otherMember((ledger) =>
    ledger.put('machines', '10.1.0.11', JSON.stringify(record(ledger.self))),
  )
  const { client, ledger } = node
  const stranger = newSigner().peerId
  for (const named of [ledger.self, stranger]) {
    const put = client.putJson({ bucket: 'machines', key: '10.1.0.11', body: record(named) })
    expect(await failure(put)).toMatchObject({
      code: 'ledger.not_owner',
      message: expect.stringContaining(`belongs to ${other.self}`),
      owner: other.self,
      leaseEndsAt: expect.any(String),
    })
  }
  const free = await failure(client.putJson({ bucket: 'services', key: 'web', body: { PeerID: stranger } }))
  expect(free).toMatchObject({ code: 'ledger.not_owner', message: expect.stringContaining(stranger) })
  expect(free.owner).toBeUndefined()
})

describe('the heartbeat of a node', () => {
  const hours = (ago: number) => new Date(Date.now() - ago * 3_600_000).toISOString()

  test.each([
    ['notatime', 'an RFC 3339 time in UTC'],
    ['2026-02-30T10:00:00Z', 'an RFC 3339 time in UTC'],
    [hours(-1), 'not in the future'],
    [hours(1), 'a time of now'],
  ])('is no %s', async (value, expected) => {
    const at = { bucket: 'healthcheck', key: node.ledger.self }
    for (const put of [
      () => node.client.putText({ ...at, value }),
      () => node.client.putJson({ ...at, body: value }),
    ]) {
      expect(await failure(put())).toMatchObject({
        code: 'ledger.bad_value',
        status: 400,
        issues: [{ field: 'value', value, expected: expect.stringContaining(expected) }],
      })
    }
  })

  test('is written by that node alone, and deleted by nobody', async () => {
    const { client, ledger } = node
    const bucket = 'healthcheck'
    await ledger.put(bucket, ledger.self, `"${hours(0)}"`).settled
    const other = await otherMember((members) => members.put('dns', 'x', '{}'))
    const own = { code: 'ledger.written_by_node', status: 409 }
    const foreign = { code: 'ledger.not_owner', status: 409, owner: other.self }
    expect(await failure(client.putText({ bucket, key: ledger.self, value: hours(0) }))).toMatchObject(own)
    expect(await failure(client.deleteEntry({ bucket, key: ledger.self }))).toMatchObject(own)
    expect(await failure(client.putText({ bucket, key: other.self, value: hours(0) }))).toMatchObject(foreign)
    expect(await failure(client.deleteEntry({ bucket, key: other.self }))).toMatchObject(foreign)
    expect(await failure(client.deleteBucket({ bucket }))).toMatchObject({ status: 409 })
    expect(Object.keys(await client.getBucket({ bucket })).sort()).toEqual([ledger.self, other.self].sort())
  })

  test('stays when the bucket is deleted, with those of others that may go', async () => {
    const { client, ledger } = node
    const bucket = 'healthcheck'
    await ledger.put(bucket, ledger.self, `"${hours(0)}"`).settled
    expect(await failure(client.deleteBucket({ bucket }))).toMatchObject({ code: 'ledger.written_by_node' })
    expect(Object.keys(await client.getBucket({ bucket }))).toEqual([ledger.self])
  })
})

test.each([
  ['machines', '10.1.0.11', { Hostname: 5 }, 'Hostname'],
  ['machines', '10.1.0.11', { Address: '10.1.0.12' }, 'Address'],
  ['machines', '10.1.0.11/24', {}, 'key'],
  ['machines', 'fd00::0011', {}, 'key'],
  ['machines', 'fd00::11', { Address: 'nowhere' }, 'Address'],
  ['routes', '192.168.7.1/24', {}, 'key'],
  ['routes', '192.168.7.0/24', { Metric: -1 }, 'Metric'],
  ['routes', '192.168.7.0/24', { Metric: '1' }, 'Metric'],
  ['services', 'web', { Name: 5 }, 'Name'],
  ['files', 'f', { Name: {} }, 'Name'],
])('%s/%s takes no %j of this node', async (bucket, key, wrong, field) => {
  const body = { PeerID: node.ledger.self, ...wrong }
  expect(await failure(node.client.putJson({ bucket, key, body }))).toMatchObject({
    code: 'ledger.bad_value',
    status: 400,
    issues: [{ field, expected: expect.any(String) }],
  })
})

test('what a node says of itself in other buckets has the form that members read', async () => {
  const { client, ledger } = node
  const { self } = ledger
  const issueOf = async (bucket: string, key: string, body: unknown) =>
    (await failure(client.putJson({ bucket, key, body }))).issues[0]?.field
  expect(await issueOf('users', self, 'x')).toBe('value')
  expect(await issueOf('users', self, { PeerID: 'x' })).toBe('PeerID')
  expect(await issueOf('users', self, { PeerID: self, Timestamp: 5 })).toBe('Timestamp')
  expect(await issueOf('egress', self, 'yes')).toBe('value')
  expect(await issueOf('dhcp', 'leader', 'nobody')).toBe('value')
  expect(await issueOf('services', 'web', { peerid: self })).toBe('PeerID')
  for (const [bucket, key, body] of [
    ['users', self, { PeerID: self, Timestamp: 'now' }],
    ['egress', self, 'ok'],
    ['dhcp', 'leader', self],
    ['machines', '10.1.0.11', { PeerID: self, Hostname: 'h', Address: '10.1.0.11' }],
    ['machines', 'fd00::11', { PeerID: self, Address: '10.1.0.11' }],
    ['routes', '192.168.7.0/24', { PeerID: self, Metric: 5 }],
    ['services', 'web', { PeerID: self, Name: 'web', Port: 80 }],
  ] as const) {
    expect(await client.putJson({ bucket, key, body, wait: '5s' })).toMatchObject({ State: 'Committed' })
  }
})

test('who waits for a deletion is told when there was nothing to delete', async () => {
  const { client } = node
  const at = { bucket: 'notes', key: 'k' }
  expect(await client.deleteEntry({ ...at, wait: '5s' })).toMatchObject({ State: 'Committed', Absent: true })
  expect(await client.deleteBucket({ bucket: 'notes', wait: '5s' })).toMatchObject({ Absent: true })
  expect(await client.deleteEntry(at)).toEqual({ State: 'Announcing' })
  await client.putJson({ ...at, body: 1, wait: '5s' })
  const deleted = await client.deleteEntry({ ...at, wait: '5s' })
  expect(deleted).toEqual({ State: 'Committed', Block: expect.any(Number) })
  expect(await client.deleteEntry({ ...at, wait: '5s' })).toMatchObject({ Absent: true })
})

test('deleting a bucket keeps and names what others own, and is refused when that is all', async () => {
  const other = await otherMember((ledger) => ledger.put('dns', 'theirs', '{"1":"10.1.0.9"}'))
  expect(await failure(node.client.deleteBucket({ bucket: 'dns' }))).toMatchObject({
    code: 'ledger.not_owner',
    status: 409,
  })
  await node.client.createDns({ body: { Regex: 'ours', Records: { A: '10.1.0.1' } }, wait: '5s' })
  expect(await node.client.deleteBucket({ bucket: 'dns', wait: '5s' })).toMatchObject({
    State: 'Committed',
    Refused: [{ Key: 'theirs', Owner: other.self }],
  })
  expect(Object.keys(await node.client.getBucket({ bucket: 'dns' }))).toEqual(['theirs'])
})

test('a newer write of a key replaces the pending one, which says so when waited for', async () => {
  const put = (value: string) => node.client.putText({ bucket: 'b', key: 'k', value, wait: '5s' })
  // while a block is being made, the writes of one key wait together
  const outcomes = await Promise.all(['1', '2', '3', '4', '5', '6'].map(put))
  const states = new Set(outcomes.map(({ State }) => State))
  expect([...states].every((state) => state === 'Committed' || state === 'Superseded')).toBe(true)
  expect(states).toContain('Committed')
})

test('without a wait the answer comes at once, with one after the commit', async () => {
  expect(await node.client.putText({ bucket: 'b', key: 'k', value: '1' })).toEqual({ State: 'Announcing' })
  const { State, Block } = await node.client.putText({ bucket: 'b', key: 'k', value: '2', wait: '5s' })
  expect({ State, Block }).toEqual({ State: 'Committed', Block: node.ledger.snapshot().head.index })
  expect(await node.client.putText({ bucket: 'b', key: 'k2', value: '2', wait: '0s' })).toEqual({
    State: 'Announcing',
  })
})

test.each(['', '5', 'x', '-1s', '5s;'])('refuses to wait for %j', async (wait) => {
  const { status, body } = await ask(
    node.listener.port,
    `PUT /api/ledger/b/k/v?wait=${encodeURIComponent(wait)}`,
  )
  expect(status).toBe(400)
  expect(JSON.parse(body)).toMatchObject({ Code: 'http.bad_query', Issues: [{ Field: 'wait', Value: wait }] })
  expect(node.ledger.snapshot().size).toBe(0)
})

test('names, values and bodies over their limits are refused with limit and size', async () => {
  const { client } = node
  const long = (bytes: number) => 'x'.repeat(bytes)
  await client.putText({ bucket: long(256), key: long(1024), value: long(48 * 1024), wait: '5s' })
  await client.putJson({ bucket: long(256), key: long(1024), body: long(65_534), wait: '5s' })
  expect(await failure(client.getBucket({ bucket: long(257) }))).toMatchObject({
    code: 'http.bad_path',
    status: 400,
    issues: [{ field: 'bucket', expected: 'at most 256 bytes in UTF-8, this has 257' }],
  })
  expect(await failure(client.putText({ bucket: 'b', key: long(1025), value: 'v' }))).toMatchObject({
    issues: [{ field: 'key', expected: 'at most 1024 bytes in UTF-8, this has 1025' }],
  })
  expect(await failure(client.putJson({ bucket: 'b', key: 'k', body: long(65_535) }))).toMatchObject({
    code: 'ledger.too_large',
    status: 400,
    message: 'a value may have 65536 bytes of JSON, this has 65537',
  })
  expect(await failure(client.putJson({ bucket: 'b', key: 'k', body: long(128 * 1024) }))).toMatchObject({
    code: 'http.body_too_large',
    status: 413,
  })
  for (const bytes of [57 * 1024, 256 * 1024]) {
    expect(await failure(client.putText({ bucket: 'b', key: 'k', value: long(bytes) }))).toMatchObject({
      code: 'http.path_too_long',
      status: 414,
      hint: 'Send the value as a JSON body: PUT /api/ledger/:bucket/:key.',
    })
  }
})

test('a value of 48 KiB fits the path, as it is encoded there', async () => {
  const value = '\u{10ffff}'.repeat(4_096)
  const { State } = await node.client.putText({ bucket: 'b', key: 'k', value, wait: '5s' })
  expect(State).toBe('Committed')
  expect(await node.client.getEntry({ bucket: 'b', key: 'k' })).toBe(value)
})

test('a JSON value is kept as it was sent, digit by digit', async () => {
  const body = ' {"a": 1.0, "n":123456789012345678901234567890,"__proto__":{"x":1e400},"a":2} \n'
  const { status } = await ask(
    node.listener.port,
    'PUT /api/ledger/b/k?wait=5s',
    { 'Content-Type': 'application/json' },
    body,
  )
  expect(status).toBe(200)
  expect(node.ledger.snapshot().getLive('b', 'k')?.value).toBe(body.trim())
  expect((await ask(node.listener.port, 'GET /api/ledger/b/k')).body.trim()).toBe(body.trim())
})

test.each([
  ['text/plain', '1', 415],
  ['application/x-www-form-urlencoded', '1', 415],
  ['', '1', 415],
  ['application/json; charset=latin1', '1', 415],
  ['application/json', '{bad', 400],
  ['application/json', ' ', 400],
  ['application/json', '1 2', 400],
  ['application/json', '"\u0001"', 400],
  ['application/json', '['.repeat(60_000), 400],
  ['application/json', `${'['.repeat(60_000)}${']'.repeat(60_000)}`, 400],
  ['application/json; charset=UTF-8', '1', 200],
  ['Application/JSON', '1', 200],
  ['application/vnd.x+json', '1', 200],
])('a body of type %j is judged', async (type, body, expected) => {
  const headers = type === '' ? {} : { 'Content-Type': type }
  const { status } = await ask(node.listener.port, 'PUT /api/ledger/b/k', headers, body)
  expect(status).toBe(expected)
})

test('a body that is not UTF-8, or is compressed, is refused', async () => {
  const json = { 'Content-Type': 'application/json' }
  const { port } = node.listener
  const latin = await fetch(`${node.listener.url}/api/ledger/b/k`, {
    method: 'PUT',
    headers: json,
    body: Buffer.from('"\xe9"', 'latin1'),
  })
  expect(latin.status).toBe(400)
  expect((await ask(port, 'PUT /api/ledger/b/k', { ...json, 'Content-Encoding': 'gzip' }, 'x')).status).toBe(
    415,
  )
})

test('what is too long or empty is told in words for people', async () => {
  const say = async (body: object) => {
    const json = { 'Content-Type': 'application/json' }
    const answer = await ask(node.listener.port, 'POST /api/admission/invites', json, JSON.stringify(body))
    const { Code, Issues } = JSON.parse(answer.body) as {
      Code: string
      Issues: readonly { Field: string; Expected: string }[]
    }
    return [Code, ...Issues.map(({ Field, Expected }) => `${Field}: ${Expected}`)]
  }
  expect(await say({ LifeSeconds: 3600, Label: 'x'.repeat(65) })).toEqual([
    'http.bad_body',
    'Label: at most 64 characters',
  ])
})

test.each([
  ['{"Regex":5,"Records":{"A":"1.2.3.4"}}', 'http.bad_body', 'Regex'],
  ['{"Regex":"","Records":{"A":"1.2.3.4"}}', 'http.bad_body', 'Regex'],
  ['{"Records":{"A":"1.2.3.4"}}', 'http.bad_body', 'Regex'],
  ['{"Regex":"a"}', 'http.bad_body', 'Records'],
  ['{"Regex":"a","Records":{"A":1}}', 'http.bad_body', 'Records.A'],
  ['{"Regex":"a","Records":{"A":"1.2.3.4","TXT":null}}', 'http.bad_body', 'Records.TXT'],
  ['{"Regex":"a","Records":[]}', 'http.bad_body', 'Records'],
  ['[]', 'http.bad_body', 'body'],
  ['null', 'http.bad_body', 'body'],
  ['{"Regex":"a","Records":{}}', 'dns.bad_record', 'Records'],
  ['{"Regex":"(a","Records":{"A":"1.2.3.4"}}', 'dns.bad_record', 'Regex'],
  ['{"Regex":"(abcdefghij){900}","Records":{"A":"1.2.3.4"}}', 'dns.bad_record', 'Regex'],
  ['{"Regex":"a(?=b)","Records":{"A":"1.2.3.4"}}', 'dns.bad_record', 'Regex'],
  ['{"Regex":"a","Records":{"A":"1.2.3"}}', 'dns.bad_record', 'Records.A'],
  ['{"Regex":"a","Records":{"A":"fd00::1"}}', 'dns.bad_record', 'Records.A'],
  ['{"Regex":"a","Records":{"AAAA":"1.2.3.4"}}', 'dns.bad_record', 'Records.AAAA'],
  ['{"Regex":"a","Records":{"CNAME":"a b"}}', 'dns.bad_record', 'Records.CNAME'],
  ['{"Regex":"a","Records":{"MX":"mail.vpn."}}', 'dns.bad_record', 'Records.MX'],
  ['{"Regex":"a","Records":{"SRV":"0 0 x.vpn"}}', 'dns.bad_record', 'Records.SRV'],
  ['{"Regex":"a","Records":{"NOPE":"x"}}', 'dns.bad_record', 'Records.NOPE'],
  ['{"Regex":"a","Records":{"__proto__":"x"}}', 'dns.bad_record', 'Records.__proto__'],
  ['{"Regex":"a","Records":{"A":"1.2.3.4","TYPE1":"1.2.3.4"}}', 'dns.bad_record', 'Records.TYPE1'],
])('a wrong name record names its field: %s', async (body, code, field) => {
  const answer = await ask(node.listener.port, 'POST /api/dns', { 'Content-Type': 'application/json' }, body)
  expect(answer.status).toBe(400)
  expect(JSON.parse(answer.body)).toMatchObject({ Code: code, Issues: [{ Field: field }] })
  expect(node.ledger.snapshot().size).toBe(0)
})

test('the ledger form of names is numbers, and every way of writing them is checked', async () => {
  const { client } = node
  const records = { A: '10.1.0.11', MX: '10 mail.vpn.', SRV: '0 5 443 web.vpn', txt: 'any "text"', PTR: '.' }
  await client.putJson({ bucket: 'dns', key: '^x$', body: records, wait: '5s' })
  const expected = { A: '10.1.0.11', MX: '10 mail.vpn.', SRV: '0 5 443 web.vpn', TXT: 'any "text"', PTR: '.' }
  expect(await client.getEntry({ bucket: 'dns', key: '^x$' })).toEqual(expected)
  expect((await client.getSignedEntry({ bucket: 'dns', key: '^x$' })).Value).toBe(
    '{"1":"10.1.0.11","12":".","15":"10 mail.vpn.","16":"any \\"text\\"","33":"0 5 443 web.vpn"}',
  )
  expect(await failure(client.putText({ bucket: 'dns', key: '^y$', value: 'text' }))).toMatchObject({
    code: 'dns.bad_record',
  })
  expect(await failure(client.putJson({ bucket: 'dns', key: '(', body: records }))).toMatchObject({
    code: 'dns.bad_record',
  })
})

test('a write to a ledger that has stopped is refused as that', async () => {
  await node.ledger.stop()
  expect(await failure(node.client.putText({ bucket: 'b', key: 'k', value: 'v' }))).toMatchObject({
    code: 'ledger.stopped',
    status: 503,
  })
})

test('a client that leaves while it waits disturbs nobody', async () => {
  const { promise: settled, resolve: settle } = Promise.withResolvers<WriteOutcome>()
  const slow = await startTestNode({ components: { ledger: stalledLedger(settled) } })
  const put = () => slow.client.putText({ bucket: 'b', key: 'k', value: 'v', wait: '60s' }, { signal })
  const controller = new AbortController()
  const { signal } = controller
  const left = [failure(put()), failure(put())]
  await eventually(async () => expect((await slow.client.getSummary()).NodeID).toBe(node.ledger.self))
  controller.abort(new Error('gone'))
  expect((await Promise.all(left)).map(({ message }) => message)).toEqual(['gone', 'gone'])
  settle({ state: 'committed', block: 1 })
  expect(await slow.client.getLiveness()).toBe('ok\n')
  await slow.stop()
})

test('a wait that is over answers that the write is still announcing, a later refusal shows in events', async () => {
  const { promise: settled, resolve: settle } = Promise.withResolvers<WriteOutcome>()
  const slow = await startTestNode({ components: { ledger: stalledLedger(settled) } })
  const controller = new AbortController()
  let isOpen = false
  const events = slow.client.events({
    types: ['ledger.rejected'],
    signal: controller.signal,
    onState: ({ state }) => (isOpen = state === 'open'),
  })
  const next = events.next()
  await eventually(() => expect(isOpen).toBe(true))
  const put = (wait: string) => slow.client.putText({ bucket: 'b', key: 'k', value: 'v', wait })
  expect(await put('20ms')).toEqual({ State: 'Announcing' })
  const waiting = failure(put('60s'))
  settle({ state: 'refused', error: new MeshError('ledger.not_owner', 'belongs to nas') })
  expect(await waiting).toMatchObject({ code: 'ledger.not_owner', status: 409, message: 'belongs to nas' })
  expect((await next).value).toMatchObject({ data: { Bucket: 'b', Key: 'k', Code: 'NOT_OWNER' } })
  controller.abort()
  await slow.stop()
})
