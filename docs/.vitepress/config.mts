/** The site that `npm run docs:build` makes of this folder. Links that lead out of it become plain text. */
import { defineConfig, type MarkdownOptions } from 'vitepress'

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0]

const page = (text: string, link: string) => ({ text, link })

export default defineConfig({
  title: 'mesh',
  description: 'A private network without a server',
  cleanUrls: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/mark.svg' }]],
  vite: { publicDir: '../apps/web-ui/public' },
  srcExclude: ['screens/**'],
  markdown: {
    config(md) {
      leaveOutLinksOutside(md)
      nameMachines(md)
    },
  },
  themeConfig: {
    logo: '/mark.svg',
    search: { provider: 'local' },
    nav: [
      page('Tutorial', '/tutorial'),
      page('How-to', '/how-to/database'),
      page('Reference', '/flags'),
      page('How it works', '/explain/no-control-server'),
    ],
    sidebar: [
      {
        text: 'Start',
        items: [page('Install', '/install'), page('Three machines in ten minutes', '/tutorial')],
      },
      {
        text: 'How to',
        items: [
          page('Reach a database at home', '/how-to/database'),
          page('Share a folder', '/how-to/files'),
          page('Give things names', '/how-to/names'),
          page('A phone as a guest', '/how-to/phone'),
          page('Reach the network behind a machine', '/how-to/office'),
          page('Two routers for one office', '/how-to/two-routers'),
          page('Two databases, one name', '/how-to/two-databases'),
          page('An exit node', '/how-to/exit'),
          page('Browse through another machine', '/how-to/proxy'),
          page('Let machines in one by one', '/how-to/invites'),
          page('Give contractors one port for a week', '/how-to/contractors'),
          page('Join from a browser tab', '/how-to/browser'),
          page('Join from a container', '/how-to/container'),
          page('Run it on Kubernetes', '/how-to/kubernetes'),
          page('A program of your own', '/how-to/program'),
          page('Script it', '/how-to/script'),
          page('Move from EdgeVPN', '/edgevpn'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Flags and environment', '/flags'),
          page('HTTP API', '/api'),
          page('Errors', '/errors'),
          page('Exit codes', '/exit-codes'),
          page('Metrics', '/metrics'),
          page('Limits', '/limits'),
          page('Guests', '/guests'),
          page('Exit nodes', '/exit-node'),
          page('Access rules', '/access-rules'),
          page('The kernel’s WireGuard', '/kernel-wireguard'),
        ],
      },
      {
        text: 'How it works',
        items: [
          page('No control server: what that means', '/explain/no-control-server'),
          page('The ledger', '/explain/ledger'),
          page('How machines find each other', '/explain/discovery'),
          page('Paths through NATs', '/explain/paths'),
          page('Trust', '/TRUST'),
          page('Threat model', '/SECURITY'),
          page('Glossary', '/GLOSSARY'),
        ],
      },
      {
        text: 'Operation',
        items: [page('Operating a node', '/OPERATION'), page('Something does not work', '/troubleshooting')],
      },
      {
        text: 'For developers',
        collapsed: true,
        items: [
          page('From the sources', '/from-source'),
          page('Architecture', '/ARCHITECTURE'),
          page('Protocols', '/PROTOCOLS'),
          page('The legacy wire', '/WIRE'),
          page('Decisions', '/adr/README'),
          page('Changes to libraries', '/upstream/README'),
          page('Measurements', '/measurements'),
        ],
      },
    ],
    outline: [2, 3],
    docFooter: { prev: 'Before', next: 'Next' },
  },
})

/** Documents link to files of the repository, which the site does not hold. */
function leaveOutLinksOutside(md: MarkdownIt): void {
  md.core.ruler.push('links-outside', ({ tokens, env }) => {
    const depth = String((env as { relativePath?: string }).relativePath ?? '').split('/').length
    for (const { children } of tokens) {
      let inside = true
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const [ups = ''] = /^(?:\.\.\/)*/.exec(token.attrGet('href') ?? '') ?? []
          inside = ups.length / 3 < depth
        } else if (token.type !== 'link_close') continue
        if (inside) continue
        token.type = 'text'
        token.content = ''
      }
    }
  })
}

/** `sh laptop` and `sh laptop stays` say where a block is typed, and that it goes on until Ctrl-C. */
function nameMachines(md: MarkdownIt): void {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, at, options, env, self) => {
    const shown = fence?.(tokens, at, options, env, self) ?? ''
    const [, machine, stays] = /^sh (\w+)( stays)?$/.exec(tokens[at]?.info ?? '') ?? []
    if (machine === undefined) return shown
    const words = stays === undefined ? '' : ', in a terminal that stays open'
    return `<p class="machine">On <b>${machine}</b>${words}:</p>${shown}`
  }
}
