/** English words that several screens share: sections, actions and states. Another language is another file like this. */
export const words = {
  sections: {
    '/': 'Overview',
    '/map': 'Map',
    '/machines': 'Machines',
    '/peers': 'Peers',
    '/names': 'Names',
    '/services': 'Services',
    '/files': 'Files',
    '/guests': 'Guests',
    '/exit': 'Exit node',
    '/ledger': 'Ledger',
    '/blockchain': 'Blockchain',
    '/access': 'Access',
    '/traffic': 'Traffic',
    '/diagnostics': 'Diagnostics',
    '/settings': 'Settings',
  },
  /** What the filter of a section says; sections without one have none. */
  filters: {
    '/machines': 'Filter: name, relayed, os:linux',
    '/peers': 'Filter peers',
    '/names': 'Filter names',
    '/services': 'Filter services',
    '/files': 'Filter files',
    '/guests': 'Filter guests',
    '/exit': 'Filter members',
    '/ledger': 'Filter keys',
    '/blockchain': 'Filter blocks',
    '/access': 'Filter members',
    '/settings': 'Filter settings',
  },
} as const
