"""A `PlanDocument` to what is played: bundles verified and held against their digests, agents made, worlds chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compiler.trust import Trust
from compiler.verify import VerifiedBundle, verify
from runners.agents.llm.reading import PROVIDERS
from runners.agents.registry import parse_agent
from runners.agents.spec import AgentSpec, Endpoint
from runners.backends.registry import BACKENDS
from runners.plan import Plan, PlanError, plan
from runners.planning import problems
from runners.planning.document import AgentEntry, PlanDocument
from scenario_dsl.diagnostics import Diagnostic, Diagnostics
from scenario_dsl.errors import AuthorError
from scenario_dsl.values import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A plan with all that it takes to play it."""

    plan: Plan
    bundles: tuple[VerifiedBundle, ...]
    agents: tuple[AgentSpec, ...]


def resolve(document: PlanDocument, trust: Trust) -> Resolved:
    """Raises Diagnostics for what the document asks and cannot have, HostError for what this machine lacks."""
    found: list[Diagnostic] = []
    bundles = _bundles(document, trust, found)
    agents = _agents(document, _endpoints(document, found), found)
    for name in document.backends:
        if name not in BACKENDS:
            span, known = document.place(("backends", name)), ", ".join(BACKENDS)
            found.append(problems.BackendUnknown(source=document.source, span=span, name=name, known=known))
    if found:
        raise Diagnostics(found)
    if document.course.budget.money is not None:
        unknown = [agent.identity.label for agent in agents if agent.paid and agent.price is None]
        found += (
            problems.PriceUnknown(source=document.source, span=document.place(("budget", "money")), agent=label)
            for label in unknown
        )
    try:
        resolved = plan(
            bundles,
            agents,
            backends=document.backends,
            scenarios=document.scenarios,
            worlds=document.worlds,
            splits=document.splits,
            attempts=document.attempts,
            seeds=document.seeds,
            limits=document.limits,
            name=document.name,
        )
    except PlanError as error:
        chosen = next(
            (key for key in ("scenarios", "worlds", "splits") if key in document.document.root.entries), "plan"
        )
        raise Diagnostics(
            [*found, problems.NothingFits(source=document.source, span=document.place((chosen,)), reason=str(error))]
        ) from error
    if found:
        raise Diagnostics(found)
    return Resolved(plan=resolved, bundles=tuple(bundles), agents=tuple(agents))


def _bundles(document: PlanDocument, trust: Trust, found: list[Diagnostic]) -> list[VerifiedBundle]:
    bundles: list[VerifiedBundle] = []
    for index, entry in enumerate(document.packs):
        try:
            bundle = verify(entry.path, trust)
        except AuthorError as error:
            found.append(
                problems.PackRefused(
                    source=document.source, span=document.place(("packs", index, "path")), reason=_line(error)
                )
            )
            continue
        if not bundle.digest.startswith(entry.digest):
            route: Route = ("packs", index, "digest")
            path = str(document.document.raw(("packs", index, "path")))
            found.append(
                problems.DigestDiffers(
                    source=document.source, span=document.place(route), path=path, digest=bundle.digest
                )
            )
        bundles.append(bundle)
    return bundles


def _endpoints(document: PlanDocument, found: list[Diagnostic]) -> dict[str, Endpoint]:
    endpoints: dict[str, Endpoint] = {}
    for entry in document.endpoints:
        if entry.url:
            endpoints[entry.name] = Endpoint(name=entry.name, url=entry.url, key_from=entry.key_from)
        elif entry.name in PROVIDERS:
            # Known by name; a plan may say that its key stands elsewhere.
            if entry.key_from:
                endpoints[entry.name] = replace(PROVIDERS[entry.name], key_from=entry.key_from)
        else:
            known = ", ".join(PROVIDERS)
            found.append(
                problems.EndpointUnknown(
                    source=document.source, span=document.place(("endpoints", entry.name)), name=entry.name, known=known
                )
            )
    return endpoints


def _agents(document: PlanDocument, endpoints: dict[str, Endpoint], found: list[Diagnostic]) -> list[AgentSpec]:
    agents: list[AgentSpec] = []
    for entry in document.agents:
        try:
            spec = parse_agent(
                entry.text,
                training=entry.training,
                title=entry.title,
                settings=entry.settings,
                endpoints=endpoints,
                folder=document.folder,
            )
        except AuthorError as error:
            found.append(
                problems.AgentRefused(
                    source=document.source, span=document.place(_place(document, entry)), reason=_line(error)
                )
            )
            continue
        twin = next((other for other in agents if _same(other, spec)), None)
        if twin is not None:
            reason = f"it is the same agent as `{twin.identity.title}`: their trials would be the same ones"
            found.append(
                problems.AgentRefused(
                    source=document.source, span=document.place(("agents", entry.title)), reason=reason
                )
            )
        agents.append(spec)
    return agents


def _same(one: AgentSpec, other: AgentSpec) -> bool:
    """A title decides nothing: the trials of both would have the same ids."""
    return replace(one.identity, title="") == replace(other.identity, title="")


def _place(document: PlanDocument, entry: AgentEntry) -> Route:
    route: Route = ("agents", entry.title)
    node = document.document.node(route)
    return (*route, "agent") if "agent" in getattr(node, "entries", {}) else route


def _line(error: AuthorError) -> str:
    return " ".join(str(error).split())
