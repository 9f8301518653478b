/** The keys that work in all sections, for people. */
export const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close the panel'],
  ['+ - 0', 'zoom the map, show all of it'],
  ['t', 'change the theme'],
  ['?', 'show these keys'],
]
