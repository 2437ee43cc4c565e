/** Keeps a fault in one row from taking the whole panel away. */

import { Component, type ComponentChildren } from "preact";

export class Guard extends Component<{ children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  override componentDidCatch(error: unknown): void {
    console.error("A row could not be drawn.", error);
    this.setState({ failed: true });
  }

  override render(): ComponentChildren {
    if (!this.state.failed) return this.props.children;
    return <p class="notice notice-error">This part could not be drawn. It is kept, and the log of the webview says why.</p>;
  }
}
