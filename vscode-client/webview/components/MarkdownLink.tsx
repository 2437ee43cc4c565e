/** A link in a model's text: a file opens in the editor, a web page by the host's own asking. */

import type { ComponentChildren } from "preact";
import type { Link } from "../markdown/links";
import { useShared } from "./context";

export function MarkdownLink({ link, children }: { link: Link; children: ComponentChildren }) {
  const { controller } = useShared();
  if (link.kind === "web") {
    return (
      <a href={link.url} title={link.url} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    );
  }
  const where = link.line === null ? link.path : `${link.path}, line ${link.line}`;
  return (
    <button type="button" class="link" title={`Open ${where}`} onClick={() => controller.openFile(link.path, link.line)}>
      {children}
    </button>
  );
}
