"""What a chat-completions endpoint has to look like (spec 2, section 3, "Engines").

One function for the config's reader and the plan's decoder, so that neither lets in what the other refuses.
"""

from __future__ import annotations

import re
from typing import Final

from akm_schemas.config_keys import ENDPOINT
from akm_schemas.json_paths import quoted

_ENDING: Final = "/chat/completions"
_WHOLE: Final = re.compile(ENDPOINT.body)


def endpoint_fault(text: str) -> str | None:
    """Why ``text`` is no endpoint, as the end of a sentence, or ``None``.

    A URL that may carry a credential is never quoted.
    """
    from urllib.parse import urlsplit  # on use: most plans have no llm engine

    try:
        url = urlsplit(text)
        host, _ = url.hostname, url.port
    except ValueError as error:
        return f"is no URL: {error}"
    if url.scheme not in ("http", "https") or not host:
        return "expected an http or https URL with a host"
    if "@" in url.netloc:
        return 'must not carry a user name or password: use "apiKey" with $VAR'
    if "?" in text or "#" in text:
        return "must not carry a query or a fragment"
    if not url.path.endswith(_ENDING):
        return f"expected a URL that ends in {_ENDING}, found {quoted(text)}"
    if not _WHOLE.fullmatch(text):
        return "must not contain blanks, control or format characters, or a backslash in its host"
    return None
