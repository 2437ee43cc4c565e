"""The sessions that this client follows: events out, questions to the person, turns shown."""

from collections.abc import Callable

from pails.core.errors import NotFoundError
from pails.core.events import Envelope
from pails.lsp.asking import Prompter, approve_by, ask_by, tell_resolved
from pails.lsp.bare import BarePerson
from pails.lsp.client import Client
from pails.lsp.display import TurnDisplay
from pails.lsp.outbox import EventFeed
from pails.lsp.protocol.sessions import PaiCapabilities
from pails.lsp.virtual import KeepText
from pails.session.codec import encode_envelope
from pails.session.session import Session


class Follower:
    """One session as this client sees it."""

    def __init__(
        self,
        client: Client,
        can: PaiCapabilities,
        session: Session,
        display: TurnDisplay,
        listener: Callable[[Envelope], None],
    ) -> None:
        self.session = session
        self.display = display
        self._listener = listener
        person = BarePerson(client, can)
        self._prompter = Prompter(
            session,
            approve_by(client, person.approve) if can.approvals else person.approve,
            ask_by(client, person.ask) if can.questions else person.ask,
            tell_resolved(client, session.id) if can.approvals else _send_nothing,
        )
        self._feed = EventFeed(_sender(client) if can.events else _send_nothing)
        self._unsubscribe: Callable[[], None] | None = None

    async def start(self, after_seq: int | None) -> None:
        """Send what came after this number, then all that comes; ask again what waits.

        None, or a number that has not been reached yet, means now. Stopped meanwhile, it does
        nothing more.
        """
        now = self.session.seq
        after_seq = now if after_seq is None else min(after_seq, now)
        self._feed.hold()
        self._unsubscribe = self.session.subscribe(self._push)
        try:
            replayed = await self.session.replay(after_seq)
        except BaseException:  # the log cannot be read, or nobody waits for it any more
            self.stop()
            raise
        if self._unsubscribe is not None:
            self._feed.resume(replayed, after_seq)
            self._prompter.ask_pending()

    def stop(self) -> None:
        """Follow no longer. The display goes on to whoever follows next."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._feed.close()
        self._prompter.close()

    def _push(self, envelope: Envelope) -> None:
        self._feed.push(envelope)
        self._prompter.push(envelope)
        self.display.push(envelope)
        self._listener(envelope)


class Followers:
    """All sessions that this client follows."""

    def __init__(self, client: Client, can: PaiCapabilities, keep: KeepText) -> None:
        self._client = client
        self._can = can
        self._keep = keep
        self._followers: dict[str, Follower] = {}
        self._listeners: list[Callable[[Envelope], None]] = []

    @property
    def sessions(self) -> list[Session]:
        return [follower.session for follower in self._followers.values()]

    def session(self, session_id: str) -> Session:
        """The session of this id that is followed; raises `NotFoundError`."""
        follower = self._followers.get(session_id)
        if follower is None:
            raise NotFoundError(f"No session {session_id!r} is open here. Open it and try again.")
        return follower.session

    def listen(self, listener: Callable[[Envelope], None]) -> None:
        """Call `listener` with what happens from now on in each session that is followed.

        There is no way back, since whoever listens lives as long as this does: for the connection.
        """
        self._listeners.append(listener)

    async def follow(self, session: Session, after_seq: int | None) -> Follower:
        """Follow a session from this number on, in place of however it was followed before.

        See `Follower.start`.
        """
        before = self._followers.pop(session.id, None)
        if before is None:
            is_bare = not self._can.events
            display = TurnDisplay(self._client, session.workspace, self._keep, is_bare=is_bare)
        else:
            before.stop()
            display = before.display
        follower = Follower(self._client, self._can, session, display, self._tell)
        self._followers[session.id] = follower
        try:
            await follower.start(after_seq)
        except BaseException:
            if self._followers.get(session.id) is follower:
                del self._followers[session.id]
            raise
        return follower

    def forget(self, session_id: str) -> None:
        """Follow a session no longer that is gone for good."""
        follower = self._followers.pop(session_id, None)
        if follower is not None:
            follower.stop()
            follower.display.close()

    def get(self, session_id: str) -> Follower | None:
        return self._followers.get(session_id)

    async def cancel_progress(self, token: int | str) -> None:
        """Cancel the turn whose progress has this token; one that has ended is left alone."""
        for follower in tuple(self._followers.values()):
            turn_id = follower.display.shows(token)
            if turn_id is not None:
                await follower.session.cancel(turn_id)

    def _tell(self, envelope: Envelope) -> None:
        for listener in self._listeners:
            listener(envelope)

    def stop(self) -> None:
        for follower in self._followers.values():
            follower.stop()
            follower.display.close()
        self._followers.clear()


def _send_nothing(_: object) -> None:
    """For a client that does not want to know."""


def _sender(client: Client) -> Callable[[Envelope], None]:
    """What sends an event as `pai/event`."""

    return lambda envelope: client.notify_json("pai/event", encode_envelope(envelope))
