import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Link,
  type RouterHistory,
} from '@tanstack/react-router'
import { nodeUrl } from './data/node-url.ts'
import { Frame } from './frame/frame.tsx'
import {
  parseSearchText,
  printSearchText,
  validateBlocksSearch,
  validateLedgerSearch,
  validateListSearch,
  validateMapSearch,
  validateNamesSearch,
  validateFilesSearch,
  validateServicesSearch,
  validateSettingsSearch,
} from './frame/search-params.ts'
import { OverviewPage } from './pages/overview/overview-page.tsx'
import page from './pages/page.module.css'
import { ErrorNote } from './parts/notes.tsx'

const otherPages = () => import('./pages/other-pages.ts')
const later = (name: keyof Awaited<ReturnType<typeof otherPages>>) => lazyRouteComponent(otherPages, name)

const mapPage = lazyRouteComponent(() => import('./pages/map/map-page.tsx'), 'MapPage')
const trafficPage = lazyRouteComponent(() => import('./pages/traffic/traffic-page.tsx'), 'TrafficPage')

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound, errorComponent: Broken })
const top = { getParentRoute: () => root }
const list = { ...top, validateSearch: validateListSearch }
const overview = createRoute({ ...top, path: '/', component: OverviewPage })
const map = createRoute({ ...top, path: '/map', validateSearch: validateMapSearch, component: mapPage })
const traffic = createRoute({ ...top, path: '/traffic', component: trafficPage })
const machines = createRoute({ ...list, path: '/machines', component: later('MachinesPage') })
const machine = createRoute({ getParentRoute: () => machines, path: '$id', component: later('MachinePanel') })
const ledger = createRoute({
  ...top,
  path: '/ledger',
  validateSearch: validateLedgerSearch,
  component: later('LedgerPage'),
})
const names = createRoute({
  ...top,
  path: '/names',
  validateSearch: validateNamesSearch,
  component: later('NamesPage'),
})
const services = createRoute({
  ...top,
  path: '/services',
  validateSearch: validateServicesSearch,
  component: later('ServicesPage'),
})
const files = createRoute({
  ...top,
  path: '/files',
  validateSearch: validateFilesSearch,
  component: later('FilesPage'),
})
const guests = createRoute({ ...list, path: '/guests', component: later('GuestsPage') })
const exit = createRoute({ ...list, path: '/exit', component: later('ExitPage') })
const access = createRoute({ ...list, path: '/access', component: later('AccessPage') })
const rules = createRoute({
  ...top,
  path: '/access/rules',
  component: lazyRouteComponent(() => import('./pages/rules/rules-page.tsx'), 'RulesPage'),
})
const peers = createRoute({ ...list, path: '/peers', component: later('PeersPage') })
const peer = createRoute({ getParentRoute: () => peers, path: '$id', component: later('PeerPanel') })
const blockchain = createRoute({
  ...top,
  path: '/blockchain',
  validateSearch: validateBlocksSearch,
  component: later('BlockchainPage'),
})
const block = createRoute({
  getParentRoute: () => blockchain,
  path: '$index',
  component: later('BlockPanel'),
})
const diagnostics = createRoute({
  ...top,
  path: '/diagnostics',
  component: lazyRouteComponent(() => import('./pages/diagnostics/diagnostics-page.tsx'), 'DiagnosticsPage'),
})
const settings = createRoute({
  ...top,
  validateSearch: validateSettingsSearch,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
})
const more = createRoute({ ...top, path: '/more', component: later('MorePage') })

const routeTree = root.addChildren([
  overview,
  map,
  machines.addChildren([machine]),
  peers.addChildren([peer]),
  names,
  services,
  files,
  guests,
  exit,
  ledger,
  blockchain.addChildren([block]),
  access,
  rules,
  traffic,
  diagnostics,
  settings,
  more,
])

/** The addresses of the page. @param history of the browser unless given */
export function createPageRouter(history?: RouterHistory) {
  return createRouter({
    routeTree,
    basepath: new URL(nodeUrl).pathname,
    parseSearch: parseSearchText,
    stringifySearch: printSearchText,
    defaultErrorComponent: Broken,
    ...(history !== undefined && { history }),
  })
}

export type PageRouter = ReturnType<typeof createPageRouter>

declare module '@tanstack/react-router' {
  interface Register {
    router: PageRouter
  }
}

function NotFound() {
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>No such page</h1>
      </header>
      <p className={page.sub}>There is nothing at this address.</p>
      <p>
        <Link to="/" className={page.link}>
          Go to the overview
        </Link>
      </p>
    </div>
  )
}

function Broken({ error, reset }: ErrorComponentProps) {
  return (
    <div className={page.page}>
      <ErrorNote title="This part of the page broke" error={error} retry={reset} />
    </div>
  )
}
