/** Walks through earlier prompts. */

export class History {
  private at: number | null = null;
  private kept: string | null = null;

  /** Something that was written and not sent; it counts as the newest. */
  keep(text: string): void {
    this.kept = text;
  }

  /** The prompt before the one shown; null where there is none. `earlier` has the oldest first. */
  older(earlier: readonly string[]): string | null {
    const all = this.all(earlier);
    const at = (this.at ?? all.length) - 1;
    const text = all[at];
    if (text === undefined) return null;
    this.at = at;
    return text;
  }

  /** The one after it; behind the newest the empty box. */
  newer(earlier: readonly string[]): string | null {
    if (this.at === null) return null;
    this.at += 1;
    const text = this.all(earlier)[this.at];
    if (text === undefined) this.at = null;
    return text ?? "";
  }

  leave(): void {
    this.at = null;
  }

  private all(earlier: readonly string[]): readonly string[] {
    return this.kept === null ? earlier : [...earlier, this.kept];
  }
}
