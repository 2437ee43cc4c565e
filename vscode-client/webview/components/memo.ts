/** Draws a component again only when one of its properties is another value. */

import type { ComponentChild, FunctionComponent } from "preact";
import { Component, h } from "preact";

export function memo<Props extends object>(draw: FunctionComponent<Props>): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      const names = Object.keys(after);
      return names.length !== Object.keys(before).length || names.some((name) => after[name] !== before[name]);
    }

    override render(): ComponentChild {
      return h(draw as FunctionComponent<object>, this.props);
    }
  }
  return Memo as unknown as FunctionComponent<Props>;
}
