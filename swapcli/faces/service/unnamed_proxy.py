"""Detect a proxy on this machine that the settings do not name, so that all of its clients appear to be on this
machine.

Clients on this machine have no limits, so the clients of such a proxy have none either. Their requests are still
served. The log, a metric and the readiness page report the proxy, and its clients take turns by the addresses that it
gives.
"""

from __future__ import annotations

from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import AccessPolicy, PolicyRules
from swapcli.faces.service.metrics import Metrics
from swapcli.faces.service.rate_limits import address_client
from swapcli.faces.service.trusted_proxies import Headers, TrustedProxies
from swapcli.faces.service.worker_group import GroupMember

UNNAMED_PROXY = "UNNAMED_PROXY"
"""The code of the readiness page's warning."""

_LOOPBACK = TrustedProxies(("127.0.0.0/8", "::1/128"))


class UnnamedProxyWatch:
    """A detector of requests from an unnamed proxy. It starts over when the policy is reloaded.

    The workers of a group inform each other, so that one of them logs the proxy and all of them show the warning.
    """

    def __init__(
        self, policy: AccessPolicy, metrics: Metrics, log: AccessLog | None, member: GroupMember | None = None
    ) -> None:
        self._policy, self._metrics, self._log, self._member = policy, metrics, log, member
        self._seen_under: PolicyRules | None = None

    @property
    def warnings(self) -> list[str]:
        """The readiness page's warning, if requests from an unnamed proxy were seen under the current rules."""
        self._forget_after_reload()
        is_seen = self._seen_under is not None or self._is_seen_by_others()
        return [UNNAMED_PROXY] if is_seen and not self._policy.rules.proxies.trusts_loopback else []

    def queue_client(self, peer: str | None, headers: Headers, now_s: float) -> str | None:
        """Return the client name under which a request from an unnamed proxy is queued, or None for any other request.

        The name contains the last address given by the proxy, which clients on this machine may forge. It is never the
        name of a rate-limited client, so no one can use up another client's requests.
        """
        self._forget_after_reload()
        rules = self._policy.rules
        if not rules.proxies.is_unnamed_proxy(peer, headers):
            return None
        self._metrics.record_unnamed_proxy()
        if self._seen_under is None:
            if self._log is not None and not self._is_seen_by_others():
                self._log.log_unnamed_proxy(now_s)
            self._seen_under = rules
            if self._member is not None:
                self._member.group.unnamed_proxies.set(self._member.slot, 1)
        return f"forwarded {address_client(_LOOPBACK.client_address(peer, headers))}"

    def _forget_after_reload(self) -> None:
        if self._seen_under is not None and self._seen_under is not self._policy.rules:
            self._seen_under = None
            if self._member is not None:
                self._member.group.unnamed_proxies.clear(self._member.slot)

    def _is_seen_by_others(self) -> bool:
        member = self._member
        return member is not None and member.group.unnamed_proxies.minimum_of_others(member.slot) == 1
