/** Small drawings of 16 by 16, in the colour of the text. They say nothing to a screen reader. */

const PATHS = {
  plus: "M8 3v10M3 8h10",
  history: "M2.5 8a5.5 5.5 0 1 0 1.8-4.1M2.5 2.5v2.8h2.8M8 5v3.2l2.2 1.3",
  send: "M8 13V3M3.8 7.2 8 3l4.2 4.2",
  copy: "M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2",
  insert: "M2.5 3v10M13.5 8h-8M8.5 4.8 5.3 8l3.2 3.2",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  right: "M6 3.5 10.5 8 6 12.5",
  down: "M8 3v10M3.8 8.8 8 13l4.2-4.2",
  pencil: "M3 13l.6-2.7L10.8 3l2.2 2.2-7.3 7.2zM9.4 4.4l2.2 2.2",
  back: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.8 3.5 2.8 6.5l3 3",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  diff: "M8 3v6M5 6h6M5 12.5h6",
  hand: "M8 2.2 14 13H2zM8 6.2v3.4M8 11.2v.4",
  question: "M5.8 6.2a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6M8 12v.4",
  steer: "M3 4v4a2 2 0 0 0 2 2h7M9 6.8 12.4 10 9 13.2",
  dot: "M8 7.9v.2",
} as const;

export type IconName = keyof typeof PATHS | "stop";

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {name === "stop" ? <rect x="4" y="4" width="8" height="8" rx="1.5" /> : <path d={PATHS[name]} />}
    </svg>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly disabled?: boolean;
  readonly class?: string;
  onClick(): void;
}

export function IconButton({ icon, label, disabled = false, class: own = "", onClick }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${own}`} aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
