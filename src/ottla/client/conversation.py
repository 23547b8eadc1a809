"""One connection's side of the protocol, without the connection: bytes out, frames in.

A conversation begins with ApiVersions (`hello`), which tells it the versions that the broker speaks. After
that `request` encodes with the newest version both sides have, and `answer` decodes the frames, which a
broker sends strictly in the order of the requests. It does no I/O, so every shell can own one.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from ottla.client.effects import NEWEST, Call, Versioned
from ottla.client.errors import ProtocolError, UnsupportedVersion
from ottla.model.errors import ErrorCode
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.index import APIS, ApiKey
from ottla.wire.primitives import DecodeError, EncodeError, Part

if TYPE_CHECKING:
    from ottla.wire.primitives import Buffer

CLIENT_SOFTWARE_NAME = "ottla"

RESPONSE_BYTES_MAX = 256 * 1024 * 1024
"""A frame larger than this is not an answer to anything we ask; most often the peer does not speak Kafka's
protocol at all and its text was taken for a length."""


class Pending(NamedTuple):
    correlation_id: int
    api_key: int
    version: int


class Conversation:
    def __init__(self, client_id: str, software_version: str) -> None:
        self._client_id = client_id
        self._software_version = software_version
        self._next_correlation_id = 0
        self._pending: deque[Pending] = deque()
        self.ranges: dict[int, tuple[int, int]] = {}
        """The broker's lowest and highest version of each API; empty before the first hello is answered."""
        self.api_versions: ApiVersionsResponse | None = None

    @property
    def pending_count(self) -> int:
        return len(self._pending)

    def hello(self, version: int = ApiVersionsRequest.MAX_VERSION) -> list[Part]:
        request = ApiVersionsRequest(
            client_software_name=CLIENT_SOFTWARE_NAME, client_software_version=self._software_version
        )
        return self._encode(request, ApiKey.API_VERSIONS, version, answered=True)

    def hello_answer(self, frame: Buffer) -> int | None:
        """Takes in the answer to `hello`: None when versions are agreed, else the version to say hello in.

        A broker that does not know our version of ApiVersions answers with error 35 and a body of version 0,
        whichever version was asked (KIP-511).
        """
        asked = self._pending[0].version if self._pending else 0
        if (
            len(frame) >= 6
            and int.from_bytes(frame[4:6], "big", signed=True) == ErrorCode.UNSUPPORTED_VERSION
        ):
            if asked == 0:
                raise UnsupportedVersion("the broker does not even speak ApiVersions version 0")
            self._pending[0] = self._pending[0]._replace(version=0)
            try:
                response = self.answer(frame)
            except ProtocolError:
                return 0  # some write this body in the version that was asked: version 0 they all know
            for entry in response.api_keys:
                if entry.api_key == ApiKey.API_VERSIONS:
                    return int(min(entry.max_version, asked - 1, ApiVersionsRequest.MAX_VERSION))
            return 0
        response = self.answer(frame)
        if response.error_code:
            raise ProtocolError(f"ApiVersions was answered with error code {response.error_code}")
        self.ranges = {entry.api_key: (entry.min_version, entry.max_version) for entry in response.api_keys}
        self.api_versions = response
        return None

    def version_for(self, api_key: int, version_max: int = NEWEST) -> int:
        """The newest version of an API that both sides speak; UnsupportedVersion when there is none."""
        api = APIS[api_key]
        ours_max = min(api.max_version, version_max)
        if api.unstable_version is not None:
            ours_max = min(ours_max, api.unstable_version - 1)
        theirs = self.ranges.get(api_key)
        if theirs is None:
            raise UnsupportedVersion(f"the broker does not offer {api.name}")
        version = min(ours_max, theirs[1])
        if version < max(api.min_version, theirs[0]):
            raise UnsupportedVersion(
                f"the broker speaks {api.name} {theirs[0]} to {theirs[1]}, this client "
                f"{api.min_version} to {ours_max}"
            )
        return version

    def request(self, call: Call) -> list[Part]:
        """The frame for a call."""
        version = self.version_for(call.api_key, call.version_max)
        message = call.request.build(version) if isinstance(call.request, Versioned) else call.request
        return self._encode(message, call.api_key, version, answered=call.answered)

    def _encode(self, message: Any, api_key: int, version: int, *, answered: bool) -> list[Part]:
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        try:
            parts = encode_request(message, version, correlation_id, self._client_id)
        except EncodeError as error:
            raise UnsupportedVersion(f"the request cannot be sent to this broker: {error}") from error
        if answered:
            self._pending.append(Pending(correlation_id, api_key, version))
        return parts

    def answer(self, frame: Buffer) -> Any:
        """The message of a response frame (without its 4-byte size). Records in it are views of `frame`."""
        if not self._pending:
            raise ProtocolError("the broker sent a response to nothing")
        pending = self._pending.popleft()
        try:
            correlation_id, message = decode_response(pending.api_key, pending.version, frame)
        except DecodeError as error:
            raise ProtocolError(f"the broker's response cannot be read: {error}") from error
        if correlation_id != pending.correlation_id:
            raise ProtocolError(
                f"the broker answered request {correlation_id} where {pending.correlation_id} was due"
            )
        return message


def frame_size(prefix: Buffer) -> int:
    """The size that a frame announces in its first four bytes; ProtocolError when it cannot be one."""
    size = int.from_bytes(prefix, "big", signed=True)
    if not 4 <= size <= RESPONSE_BYTES_MAX:
        hint = ""
        if bytes(prefix[:2]) == b"\x15\x03":
            hint = ": it expects TLS"
        elif bytes(prefix) == b"HTTP":
            hint = ": it is a web server"
        raise ProtocolError(f"the peer does not speak Kafka's protocol{hint}")
    return size
