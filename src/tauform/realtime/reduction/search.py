"""The search for a smaller program: every route, each aimed a little below the tolerance and then verified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import Profile
from tauform.closedform.reduction.fewest import TermSearch
from tauform.codegen.program.program import Program
from tauform.codegen.pruning.prune import PruningTask, flat_results, prune
from tauform.codegen.pruning.rewrite import polished
from tauform.realtime.reduction.error_norm import ErrorNorm
from tauform.realtime.reduction.guards import NEED_DEFINITE, guard, result_weights
from tauform.realtime.reduction.routes import Route, by_parameters, by_terms, by_velocity
from tauform.realtime.reduction.subject import Subject, function_states
from tauform.realtime.reduction.velocity import Quiet
from tauform.realtime.reduction.verification import Verification, Verifier

ROUTES = ("terms", "parameters", "velocity", "operations")
# Functions that leaving out terms, parameters or velocities makes cheaper; single operations can go from any.
STRUCTURED = ("inverse_dynamics", "forward_dynamics")
# States of the regressions; operations are pruned on so many that this many may fail.
ROUTE_STATES, FAILING_STATES, STATES_BOUNDS = 3000, 30, (4000, 30_000)
GUARD_STATES = 500
# Routes aim a little below the tolerance, so that unseen states confirm them. Where these do not, the next attempt aims
# lower: by what the error was beyond the tolerance, and a little more.
FIRST_AIM, AIM_PER_ATTEMPT, MOST_ATTEMPTS = 0.97, 0.97, 5

Attempt = Callable[[float], Route | None]


@dataclass(frozen=True, eq=False)
class RouteResult:
    """The best program of a route, verified.

    Attributes:
        remark: what was left out, in words.
        verification: what unseen states showed; a route whose best does not hold cannot win.
        bound: the reduced closed form, where the route has one.
        aim: error that it was made for, as a part of the tolerance.
        larger: programs of the same route with more operations, for where this one fails on further states.
    """

    name: str
    program: Program
    remark: str
    verification: Verification
    bound: BoundModel | None = None
    aim: float = FIRST_AIM
    larger: tuple[Program, ...] = ()


def cheapest(results: Sequence[RouteResult]) -> Program:
    """Cheapest of the programs that hold."""
    return min((r.program for r in results if r.verification.holds), key=lambda program: program.n_operations)


@dataclass(frozen=True, eq=False)
class RouteSearch:
    """Data that all routes share.

    Attributes:
        subject: what is reduced.
        seen: states that programs are fitted to.
        verify: compares a program with the exact one on states that were not seen.
        quiet: what the route "velocity" is to leave out; searched for where it is None.
    """

    subject: Subject
    exact: Program
    seen: Profile
    verify: Verifier
    quiet: Quiet | None
    rng: np.random.Generator
    tell: Callable[[str], None] = lambda words: None

    def results(self, routes: Sequence[str]) -> list[RouteResult]:
        """The best of every route, the exact program first."""
        results = [self._exact]
        for name, attempt in self._attempts().items():
            if name in routes:
                self.tell(f"leaving out {name}" + (" terms" if name == "velocity" else ""))
                # The cheapest so far is the bar: a route above it is not followed further.
                results.append(self._first_verified(name, attempt, cheapest(results), self.verify))
        if "operations" in routes:
            self.tell("leaving out operations")
            results.append(self._by_operations(cheapest(results)))
        return results

    @cached_property
    def _exact(self) -> RouteResult:
        exactly, remark = self.verify.exactly(), "nothing left out"
        if self._definite and exactly.definite is False:
            remark += "; its mass matrix is not positive definite, and that of a smaller one would have to be"
        return RouteResult("exact", self.exact, remark, exactly)

    @property
    def _definite(self) -> bool:
        return self.verify.definite or self.exact.name in NEED_DEFINITE

    @cached_property
    def _norm(self) -> ErrorNorm:
        # Drawn once: routes are compared on the same states.
        states = self.seen.sample(ROUTE_STATES, self.rng)
        norm = ErrorNorm.at(
            self.subject, self.exact.name, states, self.verify.confidence, self._definite, self.verify.joints
        )
        return replace(norm, tell=self.tell, is_definite=self._exact.verification.definite is not False)

    @cached_property
    def _terms(self) -> TermSearch:
        norm = self._norm
        options = {"function": norm.function, "joints": norm.joints, "progress": self.tell}
        return TermSearch.over(self.subject.closed_form, self.seen, norm.confidence, self.rng, **options)  # type: ignore[arg-type]

    def _attempts(self) -> dict[str, Attempt]:
        """Routes that leave out terms, parameters or velocities: each takes a tolerance to aim at."""
        # Of gravity and mass matrices alone, no velocities and hardly any terms could go.
        if self.exact.name not in STRUCTURED:
            return {}
        return {
            "terms": lambda aim: by_terms(self._terms, self._norm, aim),
            "parameters": lambda aim: by_parameters(self._norm, aim),
            "velocity": lambda aim: by_velocity(self._norm, aim, self.quiet),
        }

    def _first_verified(
        self, name: str, attempt: Attempt, cheapest: Program, verify: Verifier, aim: float = FIRST_AIM
    ) -> RouteResult:
        """The first attempt that unseen states confirm; each next one aims lower, the last is reported all the same.

        Lower aims take more operations, so that a route which is beaten already is not followed further, unless it has
        a closed form, which is a result of its own.
        """
        result = None
        for k in range(MOST_ATTEMPTS):
            # nothing is left out of a closed form in the end, so that there always is one
            aim = 0.0 if name == "terms" and k == MOST_ATTEMPTS - 1 else aim
            route = attempt(aim * self.verify.tolerance)
            if route is None:
                break
            self.tell(f"leaving out {name}: verifying {route.program.n_operations} operations")
            result = RouteResult(name, route.program, route.remark, verify(route.program), route.bound, aim)
            beaten = route.bound is None and route.program.n_operations >= cheapest.n_operations
            # Lower aims come nearer to the exact program: where its mass matrix is not definite, theirs is not either.
            beaten |= result.verification.definite is False and not self._norm.may_keep_inertia
            # What the user asked to leave out is not searched: its one result is reported.
            if beaten or result.verification.holds or (name == "velocity" and self.quiet is not None):
                break
            aim = self._lowered(result)
        return result or self._nothing(name)

    def _lowered(self, result: RouteResult) -> float:
        """Aim after a result that unseen states did not confirm."""
        # Also where only definiteness failed: the next attempt must differ.
        excess = max(1.0, result.verification.error / self.verify.tolerance)
        return AIM_PER_ATTEMPT * result.aim / excess

    def refined(self, result: RouteResult, verify: Verifier) -> RouteResult:
        """Next larger result that holds, in place of one that more states refuse."""
        if result.name == "operations":
            # Rungs above were made on the way down: no new search is needed.
            return self._lowest_rung(result.larger, verify) or result
        # Against the exact program as bar: the cheapest before was this very result.
        attempt = self._attempts()[result.name]
        return self._first_verified(result.name, attempt, self.exact, verify, self._lowered(result))

    def _by_operations(self, cheapest: Program) -> RouteResult:
        """Operations left out of the exact program and of the cheapest so far, whichever ends smaller."""
        rungs = [p for start in dict.fromkeys((self.exact, cheapest)) for p in self._pruned(start)]
        found = self._lowest_rung(rungs, self.verify)
        # other states let other operations go
        # Pruned once more from where it ended.
        found = found and (self._lowest_rung([*self._pruned(found.program), *found.larger], self.verify) or found)
        return found or self._nothing("operations")

    def _lowest_rung(self, rungs: Sequence[Program], verify: Verifier) -> RouteResult | None:
        """The cheapest of some programs that unseen states confirm; None where it is no cheaper than the exact one."""
        ascending = sorted(rungs, key=lambda program: program.n_operations)
        for k, rung in enumerate(ascending, start=1):
            program = polished(rung)
            # Ascending: every further rung is longer still.
            if program.n_operations >= self.exact.n_operations:
                break
            verification = verify(program)
            if verification.holds:
                n_left_out = self.exact.n_operations - program.n_operations
                remark = f"{n_left_out} of {self.exact.n_operations} operations left out, numbers refitted"
                return RouteResult("operations", program, remark, verification, larger=tuple(ascending[k:]))
        return None

    def _pruned(self, start: Program) -> list[Program]:
        confidence = self.verify.confidence
        # So many that the share which may fail is some states, not a fraction of one.
        n_states = int(np.clip(FAILING_STATES / (1 - confidence), *STATES_BOUNDS))
        states = function_states(self.subject, self.exact, self.seen.sample(n_states, self.rng))
        # Definiteness at a few states while pruning; the verification asks at more.
        soundness = guard(
            self.exact.name, [s[:GUARD_STATES] for s in states], self.verify.definite, self.subject.moving
        )
        expected = flat_results(self.exact, states)
        weights = result_weights(self.exact.name, expected, self.verify.joints)
        task = PruningTask(states, expected, weights, confidence, soundness)

        def tell(program: Program) -> None:
            self.tell(f"leaving out operations: {program.n_operations} left")

        return prune(start, task, FIRST_AIM * self.verify.tolerance, tell)

    def _nothing(self, name: str) -> RouteResult:
        return replace(self._exact, name=name, remark="nothing can be left out")
