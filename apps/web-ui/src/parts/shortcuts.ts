/** The keys that work in all sections, for people. */
export const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close the panel'],
  ['t', 'change the theme'],
  ['?', 'show these keys'],
]
