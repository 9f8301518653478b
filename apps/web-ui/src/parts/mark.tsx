/** The project's mark: five nodes, one closed path. */
export function Mark({ className }: { className?: string | undefined }) {
  return (
    <svg className={className} viewBox="0 0 16 16" aria-hidden="true" fill="currentColor">
      <path
        d="M8 2.6 13.6 6.7 11.5 13.3H4.5L2.4 6.7Z"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.2"
        strokeLinejoin="round"
      />
      <circle cx="8" cy="2.4" r="1.9" />
      <circle cx="13.8" cy="6.6" r="1.9" />
      <circle cx="11.6" cy="13.4" r="1.9" />
      <circle cx="4.4" cy="13.4" r="1.9" />
      <circle cx="2.2" cy="6.6" r="1.9" />
    </svg>
  )
}
