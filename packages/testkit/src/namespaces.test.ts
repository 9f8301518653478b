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
