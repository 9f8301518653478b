import css from './empty-picture.module.css'

const PICTURES = {
  services: 'M52 28h40v40H52zM60 38h24M60 48h24M60 58h12M92 48h56M148 48a20 20 0 1 0 40 0a20 20 0 1 0-40 0',
  files: 'M52 24h26l12 12v36H52zM78 24v12h12M104 48h40M136 40l8 8l-8 8M152 34h14l6 8h28v30h-48z',
  names: 'M48 34h64v28H48zM58 48h34M112 48h40M152 48a18 18 0 1 0 36 0a18 18 0 1 0-36 0',
  guests: 'M62 22h30v52H62zM72 66h10M92 48h56M148 48a20 20 0 1 0 40 0a20 20 0 1 0-40 0',
  exit: 'M40 48a18 18 0 1 0 36 0a18 18 0 1 0-36 0M76 48h34M110 30h20v36h-20zM130 48h50M172 40l8 8l-8 8',
} as const

/** A small drawing of what would stand on an empty screen. */
export function EmptyPicture({ of }: { of: keyof typeof PICTURES }) {
  return (
    <svg viewBox="32 12 176 72" aria-hidden="true" className={css.picture}>
      <path d={PICTURES[of]} />
    </svg>
  )
}
