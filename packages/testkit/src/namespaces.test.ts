import { expect, test } from 'vitest'
import { bridge, createLab, whyNoNamespaces } from './index.ts'

const why = whyNoNamespaces(['ip', 'ping'])

test.skipIf(why !== undefined)(
  `hosts on one bridge reach each other until a link goes down${why === undefined ? '' : ` (${why})`}`,
  () => {
    const lab = createLab(['switch', 'a', 'b'])
    try {
      bridge(lab, 'switch', { a: ['192.168.77.1/24', 'fd77::1/64'], b: ['192.168.77.2/24', 'fd77::2/64'] })
      expect(lab.run('a', ['ping', '-c1', '-W2', '192.168.77.2'])).toContain('1 received')
      expect(lab.run('a', ['ping', '-6', '-c1', '-W2', 'fd77::2'])).toContain('1 received')
      lab.setLink('b', 'eth0', 'down')
      expect(() => lab.run('a', ['ping', '-c1', '-W1', '192.168.77.2'])).toThrow('ping')
    } finally {
      lab.close()
    }
  },
)

test.skipIf(why !== undefined)(
  `many hosts on one bridge take nothing of the table of neighbours that all namespaces share`,
  { timeout: 60_000 },
  () => {
    const hosts = Array.from({ length: 32 }, (_, at) => `h${at}`)
    const lab = createLab(['switch', ...hosts])
    try {
      bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`192.168.77.${at + 1}/24`]])))
      expect(lab.run('h0', ['ping', '-c1', '-W2', '192.168.77.32'])).toContain('1 received')
      for (const host of ['h0', 'h31']) {
        const lines = lab.run(host, ['ip', '-4', 'neigh', 'show']).trim().split('\n')
        expect(lines.filter((line) => line.includes('PERMANENT'))).toHaveLength(31)
        expect(lines).toHaveLength(31)
      }
    } finally {
      lab.close()
    }
  },
)
