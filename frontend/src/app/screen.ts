/** What every screen is given. */
export interface ScreenProps {
  /** The named parts of the address, like the kind in /curate/{kind}. */
  params: Record<string, string>;
}
