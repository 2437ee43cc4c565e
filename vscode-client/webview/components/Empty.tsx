/** What a panel without a word in it says: how it works, in five lines. */

export function Empty() {
  return (
    <div class="empty">
      <h2>What shall we do?</h2>
      <ul>
        <li>Say what you want and press <kbd>Enter</kbd>. <kbd>Shift</kbd>+<kbd>Enter</kbd> begins a new line.</li>
        <li>Select code in an editor and use its light bulb to bring it here.</li>
        <li>Every edit can be kept or taken back, change by change, above this box.</li>
        <li>Commands ask first. <b>Ask</b> asks for edits too, <b>Plan</b> only reads.</li>
        <li>Any prompt can be edited, or gone back to with all files, later on.</li>
      </ul>
    </div>
  );
}
