/** Highlighted code with its language, copy and insert. */

import { useRef, useState } from "preact/hooks";
import type { Partly } from "../markdown/highlight";
import { growing, highlighted } from "../markdown/highlight";
import { useShared } from "./context";
import { IconButton } from "./Icon";
import { memo } from "./memo";

interface CodeBlockProps {
  readonly code: string;
  readonly language: string;
  /** It is still being written. */
  readonly live: boolean;
}

const SHOWN_COPIED = 1200;

export const CodeBlock = memo(function CodeBlock({ code, language, live }: CodeBlockProps) {
  const { controller } = useShared();
  return (
    <div class="code">
      <div class="code-head">
        <span class="code-language">{language || "text"}</span>
        {!live && (
          <span class="code-actions">
            <CopyButton text={code} />
            <IconButton icon="insert" label="Insert at the cursor" onClick={() => controller.insertCode(code)} />
          </span>
        )}
      </div>
      <pre tabIndex={0} aria-label={`Code, ${language || "text"}`}>
        {live ? <GrowingCode code={code} language={language} /> : <WholeCode code={code} language={language} />}
      </pre>
    </div>
  );
});

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const { controller } = useShared();
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    controller.copy(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_COPIED);
  };
  return <IconButton icon={copied ? "check" : "copy"} label={copied ? "Copied" : label} onClick={copy} />;
}

function WholeCode({ code, language }: { code: string; language: string }) {
  const html = highlighted(code, language);
  if (html === null) return <code>{code}</code>;
  return <code dangerouslySetInnerHTML={{ __html: html }} />;
}

/** What has colours stays; only the plain end changes with each frame. */
function GrowingCode({ code, language }: { code: string; language: string }) {
  const before = useRef<Partly | null>(null);
  const done = (before.current = growing(code, language, before.current));
  return (
    <code>
      {done && <Highlighted html={done.html} />}
      {done ? code.slice(done.length) : code}
    </code>
  );
}

const Highlighted = memo(function Highlighted({ html }: { html: string }) {
  return <span dangerouslySetInnerHTML={{ __html: html }} />;
});
