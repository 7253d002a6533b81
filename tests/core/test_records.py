"""Records behave as the standard library's named tuples."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

import pytest

from swapcli.core import records

T = TypeVar("T")
MISTAKES: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((1, 2, 3, 4, 5), {}),
    ((1,), {"number": 2}),
    ((1, "two"), {"unknown": 3}),
)


class Tuple(records.NamedTuple):
    """A record."""

    number: int
    text: str
    flag: bool = False

    def doubled(self) -> int:
        return self.number * 2

    @property
    def shouted(self) -> str:
        return self.text.upper()

    @classmethod
    def empty(cls) -> Tuple:
        return cls(0, "")


class StandardTuple(typing.NamedTuple):
    number: int
    text: str
    flag: bool = False


class GenericTuple(records.NamedTuple, Generic[T]):
    value: T


class NoFields(records.NamedTuple):
    pass


def same_error(function: Any, standard: Any, *arguments: Any, **keywords: Any) -> None:
    """Check that both calls raise the same sentence, but for the name of the class."""
    with pytest.raises(TypeError) as expected:
        standard(*arguments, **keywords)
    with pytest.raises(TypeError) as caught:
        function(*arguments, **keywords)
    assert str(caught.value) == str(expected.value).replace(standard.__name__, function.__name__)


def test_a_named_tuple_has_what_the_standard_one_has() -> None:
    own, standard = Tuple(1, text="a"), cast(Any, StandardTuple(1, text="a"))
    assert own == standard == (1, "a", False)
    assert hash(own) == hash(standard)
    assert repr(own) == repr(standard).replace("Standard", "")
    assert own._asdict() == standard._asdict()
    assert own._replace(text="b") == standard._replace(text="b")
    assert Tuple._make([1, "a", True]) == (1, "a", True)
    for attribute in ("_fields", "_field_defaults", "__match_args__", "__slots__"):
        assert getattr(Tuple, attribute) == getattr(StandardTuple, attribute, ())
    assert typing.get_type_hints(Tuple) == typing.get_type_hints(StandardTuple)
    assert [*inspect.signature(Tuple).parameters] == [*inspect.signature(StandardTuple).parameters]
    assert (own.doubled(), own.shouted, Tuple.empty(), Tuple.__doc__) == (2, "A", (0, "", False), "A record.")


def test_generic_and_empty_named_tuples_work() -> None:
    assert GenericTuple[int](5) == GenericTuple(5) == (5,)
    assert NoFields() == ()


@pytest.mark.parametrize("record", [Tuple(1, "a"), GenericTuple([1])])
def test_records_are_copied_and_pickled_as_equal_ones(record: Any) -> None:
    for other in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert other == record
        assert type(other) is type(record)
        assert repr(other) == repr(record)


@pytest.mark.parametrize(("arguments", "keywords"), MISTAKES)
def test_wrong_arguments_raise_the_standard_sentences(arguments: Any, keywords: Any) -> None:
    same_error(Tuple, StandardTuple, *arguments, **keywords)


def test_named_tuples_refuse_changes_and_unknown_fields() -> None:
    record: Any = Tuple(1, "a")
    with pytest.raises(AttributeError):
        record.number = 2
    with pytest.raises(AttributeError):
        record.other = 2
    with pytest.raises(ValueError, match="other"):
        record._replace(other=2)
    with pytest.raises(TypeError):
        Tuple._make([1])


def test_mistakes_in_the_class_are_found_when_it_is_created() -> None:
    with pytest.raises(TypeError, match="without a default"):

        class WrongOrder(records.NamedTuple):
            first: int = 1
            second: int  # type: ignore[misc]


class Table(records.NamedTuple):
    """A record with a read-only mapping."""

    name: str
    prices: Mapping[str, int]


def test_copies_hold_plain_dictionaries_for_proxies() -> None:
    record = Table("base", MappingProxyType({"ETH": 3}))
    for copied in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), copy.copy(record)):
        assert copied == record
        assert type(copied) is Table
    assert type(record.prices) is MappingProxyType
