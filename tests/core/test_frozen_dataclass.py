"""Our frozen dataclasses behave as the standard library's, and work together with it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any, ClassVar

import pytest

from swapcli.core import frozen_dataclass as own


class Base:
    __slots__ = ()

    @property
    def second(self) -> str:
        return "a property that a field replaces"


@own.dataclass(frozen=True, slots=True)
class Point(Base):
    """Two values."""

    first: int
    second: str
    total: ClassVar[int] = 3

    def doubled(self) -> int:
        return 2 * self.first


@own.dataclass(frozen=True, slots=True)
class Further(Point):
    third: tuple[int, ...] = ()
    fourth: int = 4

    def __post_init__(self) -> None:
        if self.fourth < 0:
            raise ValueError("negative")

    def doubled(self) -> int:
        return super().doubled() + 100


@dataclasses.dataclass(frozen=True, slots=True)
class StandardPoint:
    """Two values."""

    first: int
    second: str


@dataclasses.dataclass(frozen=True, slots=True)
class StandardFurther(StandardPoint):
    third: tuple[int, ...] = ()
    fourth: int = 4


class Plain(Further):
    __slots__ = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Outside(Further):
    """A standard dataclass, as external packages write them, of one of ours."""

    fifth: int = 5


def test_a_class_has_what_the_standard_one_has() -> None:
    record, standard = Further(1, second="a"), StandardFurther(1, second="a")
    assert repr(record) == repr(standard).removeprefix("Standard")
    assert hash(record) == hash(standard)
    assert record == Further(1, "a", (), 4) != Further(1, "a", (), 5)
    assert record != Point(1, "a")
    assert record.doubled() == 102
    assert Further.total == 3
    for attribute in ("__match_args__", "__slots__", "__doc__"):
        assert getattr(Point, attribute) == getattr(StandardPoint, attribute)
        assert attribute == "__doc__" or getattr(Further, attribute) == getattr(StandardFurther, attribute)
    assert not hasattr(record, "__dict__")
    own_signature, standard_signature = inspect.signature(Further), inspect.signature(StandardFurther)
    assert str(own_signature) == str(standard_signature)


@pytest.mark.parametrize("record", [Point(1, "a"), Further(1, "a", (2,)), Plain(1, "a"), Outside(1, "a", fifth=6)])
def test_records_are_copied_pickled_and_replaced(record: Any) -> None:
    for other in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert other == record
        assert type(other) is type(record)
    for replace in (own.replace, dataclasses.replace):
        changed = replace(record, first=7)
        assert (type(changed), changed.first, changed.second) == (type(record), 7, "a")
        with pytest.raises(TypeError, match="sixth"):
            replace(record, sixth=6)


def test_the_functions_of_the_standard_library_take_our_classes() -> None:
    record = Outside(1, "a")
    for record_class in (Further, Plain):
        assert [field.name for field in dataclasses.fields(record_class)] == ["first", "second", "third", "fourth"]
    assert dataclasses.asdict(record) == {"first": 1, "second": "a", "third": (), "fourth": 4, "fifth": 5}
    assert dataclasses.is_dataclass(Point)


@pytest.mark.parametrize("name", ["first", "fourth", "unknown"])
def test_records_are_frozen(name: str) -> None:
    record = Further(1, "a")
    with pytest.raises(AttributeError, match=name):
        setattr(record, name, 2)
    with pytest.raises(AttributeError, match=name):
        delattr(record, name)
    assert record == Further(1, "a")


@pytest.mark.parametrize("arguments", [(), (1,), (1, "a", (), 4, 5)])
def test_wrong_arguments_raise_the_standard_sentences(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError) as expected:
        StandardFurther(*arguments)
    with pytest.raises(TypeError) as caught:
        Further(*arguments)
    assert str(caught.value) == str(expected.value).removeprefix("Standard")


def test_a_class_checks_its_fields_and_its_values() -> None:
    with pytest.raises(ValueError, match="negative"):
        Further(1, "a", fourth=-1)
    with pytest.raises(TypeError, match="without a default follows"):

        @own.dataclass(frozen=True, slots=True)
        class Wrong(Further):
            fifth: int  # type: ignore[misc]
