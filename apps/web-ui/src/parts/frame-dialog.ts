import { createContext, use } from 'react'

/** The dialogs that stand over every page: one is open at a time, and stays while the page below changes. */
export type FrameDialog = 'search' | 'keys' | 'join' | 'invite'

export const FrameDialogContext = createContext<(dialog: FrameDialog) => void>(() => {})

/** Opens a dialog of the frame. */
export function useOpenDialog(): (dialog: FrameDialog) => void {
  return use(FrameDialogContext)
}
