import css from './empty-picture.module.css'

const PICTURES = {
  services: 'M52 28h40v40H52zM60 38h24M60 48h24M60 58h12M92 48h56M148 48a20 20 0 1 0 40 0a20 20 0 1 0-40 0',
  files: 'M52 24h26l12 12v36H52zM78 24v12h12M104 48h40M136 40l8 8l-8 8M152 34h14l6 8h28v30h-48z',
  names: 'M48 34h64v28H48zM58 48h34M112 48h40M152 48a18 18 0 1 0 36 0a18 18 0 1 0-36 0',
  guests: 'M62 22h30v52H62zM72 66h10M92 48h56M148 48a20 20 0 1 0 40 0a20 20 0 1 0-40 0',
  ledger: 'M56 24h40v48H56zM64 36h24M64 46h24M64 56h14M96 48h40M136 24h40v48h-40zM144 36h24M144 46h14',
  blocks: 'M44 34h28v28H44zM72 48h20M92 34h28v28H92zM120 48h20M140 34h28v28h-28zM168 48h20',
  peers:
    'M50 48a16 16 0 1 0 32 0a16 16 0 1 0-32 0M82 48h20M112 48h10M132 48h10M152 48a16 16 0 1 0 32 0a16 16 0 1 0-32 0',
  exit: 'M40 48a18 18 0 1 0 36 0a18 18 0 1 0-36 0M76 48h34M110 30h20v36h-20zM130 48h50M172 40l8 8l-8 8',
} as const

export type EmptyPictureName = keyof typeof PICTURES

/** A small drawing of what would stand on an empty screen. */
export function EmptyPicture({ of }: { of: EmptyPictureName }) {
  return (
    <svg viewBox="32 12 176 72" aria-hidden="true" className={css.picture}>
      <path d={PICTURES[of]} />
    </svg>
  )
}
